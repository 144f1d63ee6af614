import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HubFile {
  bytes: Buffer;
  /** What the listing says; the file's own otherwise. */
  sha256?: string;
}

export interface HubRequest {
  /** `hub` answers about files, `store` gives their bytes, like a delivery network. */
  server: 'hub' | 'store';
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
}

/** A model hub on this machine: a listing, files behind a redirect to a second origin, and the faults of a network. */
export interface Hub {
  url: string;
  /** Where the bytes come from; models by an address of their own are there, too: `…/file.gguf`. */
  store: string;
  /** `owner/repository` → path → file. */
  repositories: Record<string, Record<string, HubFile>>;
  requests: HubRequest[];
  /** Ends the connection after so many bytes of every answer. */
  cutAfter?: number;
  /** Waits before every piece of an answer. */
  pieceMs?: number;
  /** Where the hub redirects to, instead of the store. */
  redirectTo?: string;
  /** Answers everything with this. */
  status?: number;
  /** Never answers. */
  silent?: boolean;
  /** Sends the beginning of its listings only. */
  unfinished?: boolean;
  /** Ignores ranges. */
  noRanges?: boolean;
  /** Sends this instead of a tag made of the content. */
  etag?: string;
  close(): Promise<void>;
}

export async function startHub(repositories: Hub['repositories'] = {}): Promise<Hub> {
  const store = createServer((request, response) => answer('store', request, response));
  const front = createServer((request, response) => answer('hub', request, response));
  const origins = await Promise.all([front, store].map(listen));
  const hub: Hub = {
    url: origins[0]!,
    store: origins[1]!,
    repositories,
    requests: [],
    close: async () => {
      for (const server of [front, store]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
  return hub;

  function answer(server: 'hub' | 'store', request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(new URL(request.url!, hub.url).pathname);
    hub.requests.push({ server, method: request.method!, path, headers: request.headers });
    if (hub.silent) return;
    if (hub.status) return void response.writeHead(hub.status).end('{"error":"no"}');
    if (server === 'store') return void give(request, response, fileAt(path.slice(1)));
    const [, listed] = /^\/api\/models\/([^/]+\/[^/]+)\/tree\/main$/.exec(path) ?? [];
    if (listed) {
      list(response, hub.repositories[listed]);
      return;
    }
    const [, repository, file] = /^\/([^/]+\/[^/]+)\/resolve\/main\/(.+)$/.exec(path) ?? [];
    const found = repository && hub.repositories[repository]?.[file!];
    if (!found) return void response.writeHead(404).end();
    response.writeHead(302, {
      location: hub.redirectTo ?? `${hub.store}/${repository}/${file}`,
      'x-linked-size': found.bytes.length,
      'x-linked-etag': `"${found.sha256 ?? sha256(found.bytes)}"`,
    });
    response.end();
  }

  function fileAt(path: string): HubFile | undefined {
    const [owner, name, ...file] = path.split('/');
    return hub.repositories[`${owner}/${name}`]?.[file.join('/')];
  }

  function list(response: ServerResponse, files: Record<string, HubFile> | undefined): void {
    if (!files) return void response.writeHead(404).end();
    const tree = Object.entries(files).map(([path, { bytes, sha256: said }]) => ({
      type: 'file',
      oid: '0'.repeat(40),
      size: bytes.length,
      path,
      lfs: { oid: said ?? sha256(bytes), size: bytes.length, pointerSize: 134 },
    }));
    response.writeHead(200, { 'content-type': 'application/json' });
    if (hub.unfinished) response.write('[');
    else response.end(JSON.stringify(tree));
  }

  async function give(request: IncomingMessage, response: ServerResponse, file: HubFile | undefined): Promise<void> {
    if (!file) return void response.writeHead(404).end();
    const etag = hub.etag ?? `"${sha256(file.bytes).slice(0, 16)}"`;
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const condition = request.headers['if-range'];
    const ranged = from > 0 && !hub.noRanges && (condition === undefined || condition === etag);
    if (ranged && from >= file.bytes.length) return void response.writeHead(416).end();
    const body = ranged ? file.bytes.subarray(from) : file.bytes;
    response.writeHead(ranged ? 206 : 200, {
      etag,
      'content-length': body.length,
      ...(ranged && { 'content-range': `bytes ${from}-${file.bytes.length - 1}/${file.bytes.length}` }),
    });
    if (request.method === 'HEAD') return void response.end();
    response.flushHeaders();
    const until = Math.min(body.length, hub.cutAfter ?? body.length);
    for (let at = 0; at < until && !response.destroyed; at += 16_384) {
      if (hub.pieceMs) await new Promise((resolve) => setTimeout(resolve, hub.pieceMs));
      await new Promise<void>((resolve) => {
        response.write(body.subarray(at, Math.min(at + 16_384, until)), () => resolve());
      });
    }
    if (until < body.length) response.destroy();
    else response.end();
  }
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

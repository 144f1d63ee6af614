import * as z from 'zod';
import { message } from '../../../protocol/text/l10n.ts';
import { joined } from '../../../protocol/text/localized.ts';
import { withDeadline } from '../../core/deadlines.ts';
import { LLMError } from '../../core/errors.ts';
import { splitModelParts } from '../modelFile/splitModel.ts';
import { request, type WebResponse, withoutNetwork } from './fetchRange.ts';
import type { ModelAddress } from './modelAddress.ts';

export interface RemoteFile {
  /** As it will be called here: no folders. */
  name: string;
  url: string;
  bytes: number;
  /** Hex; absent where the server names none. */
  sha256?: string;
}

/** A model that can be downloaded; more than one file when it is split. */
export interface RemoteModel {
  /** What the person asked for. */
  address: string;
  files: RemoteFile[];
}

interface HubOptions {
  /** Such as `https://huggingface.co`. */
  hub: string;
  connectMs?: number;
  signal?: AbortSignal;
}

const treeSchema = z.array(
  z.object({
    type: z.string(),
    path: z.string(),
    size: z.number(),
    lfs: z.object({ oid: z.string().regex(/^[0-9a-f]{64}$/), size: z.number() }).optional(),
  }),
);
type TreeFile = z.infer<typeof treeSchema>[number];

/** When nobody says which: small enough for most machines, with little lost. */
const preferred = ['Q4_K_M', 'Q4_K_S', 'Q4_0', 'MXFP4', 'Q5_K_M', 'Q8_0'];

/**
 * Which files an address means, how large they are and what their checksums must be, asked of the server.
 * Hub API: `GET /api/models/{repository}/tree/{revision}?recursive=true`, files at `/{repository}/resolve/{revision}/…`.
 */
export async function findRemote(address: ModelAddress, text: string, options: HubOptions): Promise<RemoteModel> {
  if (address.kind === 'web') {
    const files: RemoteFile[] = [];
    for (const url of urlsOf(address.url)) files.push(await askFile(url, options)); // ends at the first that is not there
    return { address: text, files };
  }
  const { repository, revision } = address;
  const base = options.hub.replace(/\/+$/, '');
  const tree = await listFiles(base, repository, revision, options);
  const files = choose(tree, address);
  return {
    address: text,
    files: files.map((file) => ({
      name: file.path.split('/').at(-1)!,
      url: `${base}/${repository}/resolve/${revision}/${file.path.split('/').map(encodeURIComponent).join('/')}`,
      bytes: file.lfs?.size ?? file.size,
      ...(file.lfs && { sha256: file.lfs.oid }),
    })),
  };
}

async function listFiles(base: string, repository: string, revision: string, options: HubOptions): Promise<TreeFile[]> {
  const { connectMs = 15_000 } = options;
  const { host } = new URL(base);
  const done = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, done.signal]) : done.signal;
  try {
    const url = `${base}/api/models/${repository}/tree/${revision}?recursive=true`;
    const answer = await get(url, 'GET', { ...options, signal });
    if (!answer.response.ok) throw await refused(answer, repository, base);
    const silent = message('{0} stopped responding.', host);
    const expired = () => new LLMError('LLM_TIMEOUT', joined([silent, withoutNetwork]));
    const json = answer.response.json().catch(() => undefined);
    const tree = treeSchema.safeParse(await withDeadline(json, { ms: connectMs, signal, expired }));
    if (tree.success) return tree.data;
    throw new LLMError('LLM_BAD_RESPONSE', message('{0} does not list files as a model hub does.', host));
  } finally {
    done.abort(); // closes the socket of an answer that never ends
  }
}

function choose(tree: TreeFile[], address: ModelAddress & { kind: 'hub' }): TreeFile[] {
  const { repository, file, quantisation } = address;
  const models = tree.filter(({ type, path }) => type === 'file' && isModel(path));
  if (models.length === 0)
    throw new LLMError(
      'LLM_HTTP_ERROR',
      message('{0} has no .gguf files. Look for a repository with GGUF in its name.', repository),
    );
  const wanted = quantisation ? [quantisation] : preferred;
  const first = file
    ? models.find(({ path }) => path === file)
    : (wanted.flatMap((one) => models.filter(({ path }) => hasQuantisation(path, one)))[0] ??
      (quantisation ? undefined : models[0]));
  if (!first) {
    const names = models.slice(0, 12).map(({ path }) => path);
    const it = names.join(', ');
    const text =
      file === undefined
        ? message('{0} has no {1} file. It has {2}.', repository, String(quantisation), it)
        : message('{0} has no {1}. It has {2}.', repository, file, it);
    throw new LLMError('LLM_HTTP_ERROR', text, { status: 404 });
  }
  return allParts(first, models);
}

/** A split model is one model: the engine loads its first file and finds the others beside it. */
function allParts(first: TreeFile, models: TreeFile[]): TreeFile[] {
  const all = splitModelParts(first.path);
  const parts = all.flatMap((path) => models.find((model) => model.path === path) ?? []);
  if (parts.length === all.length) return parts;
  throw new LLMError(
    'LLM_HTTP_ERROR',
    message('{0} is split into {1} files, but only {2} exist.', all[0]!, all.length, parts.length),
  );
}

/** Not what is no model by itself: projectors for images, and the measurements that quantising used. */
const isModel = (path: string) => isFileName(path.split('/').at(-1)!) && !/(^|\/)(mmproj|imatrix)/i.test(path);

/** A name that is one on every system, and nothing but a name. */
const isFileName = (name: string) => /^[^\\/:*?"<>|\p{Cc}]+\.gguf$/iu.test(name);

function hasQuantisation(path: string, quantisation: string): boolean {
  const name = quantisation.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(^|[-._/])${name}([-._/]|$)`, 'i').test(path);
}

/** All files of a split model lie beside each other. */
function urlsOf(first: string): string[] {
  return splitModelParts(new URL(first).pathname).map((pathname) => Object.assign(new URL(first), { pathname }).href);
}

/** A file by its address: the hub says its checksum and size in headers of its redirect, others their length. */
async function askFile(url: string, options: HubOptions): Promise<RemoteFile> {
  const answer = await get(url, 'HEAD', options);
  const name = decodeURIComponent(new URL(url).pathname.split('/').at(-1)!);
  if (!answer.response.ok) throw await refused(answer, name, new URL(url).origin);
  const bytes = Number(answer.header('x-linked-size') ?? answer.response.headers.get('content-length') ?? 0);
  if (!(bytes > 0) || !isFileName(name)) {
    const text = message(
      '{0} does not report the size of {1}. Download it yourself and pick the file.',
      new URL(url).host,
      name,
    );
    throw new LLMError('LLM_BAD_RESPONSE', text);
  }
  const sha256 = /^(?:W\/)?"?([0-9a-f]{64})"?$/.exec(answer.header('x-linked-etag') ?? '')?.[1];
  return { name, url, bytes, ...(sha256 && { sha256 }) };
}

const get = (url: string, method: 'GET' | 'HEAD', { connectMs = 15_000, signal }: HubOptions) =>
  request({ method, url, connectMs, signal });

/** What a refusal means for a person. */
export async function refused({ response }: WebResponse, what: string, origin: string): Promise<LLMError> {
  await response.body?.cancel();
  const { status } = response;
  const { host } = new URL(origin);
  const page = /^[\w.-]+\/[\w.-]+$/.test(what) ? `${origin}/${what}` : origin;
  if (status === 404) return new LLMError('LLM_HTTP_ERROR', message('There is no {0} at {1}.', what, host), { status });
  if (status === 401 || status === 403) {
    // The hub answers 401 to repositories that do not exist, too.
    const text = message(
      '{0} restricts {1}: it does not exist, or its license must be accepted on its page ({2}). Towpath sends no token. Accept the license there, download the .gguf file, and pick the file.',
      host,
      what,
      page,
    );
    return new LLMError('LLM_AUTH_FAILED', text, { status });
  }
  const answered = message('{0} answered {1} for {2}.', host, status, what);
  return new LLMError('LLM_HTTP_ERROR', joined([answered, withoutNetwork]), {
    status,
    retryable: status >= 500 || status === 429,
  });
}

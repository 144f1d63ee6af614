import * as z from 'zod';
import { within } from '../clock.ts';
import { LLMError } from '../errors.ts';
import type { ModelAddress } from './address.ts';
import { partsOf } from './parts.ts';
import { request, type WebResponse, withoutNetwork } from './web.ts';

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

export interface HubOptions {
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
    const expired = () => new LLMError('LLM_TIMEOUT', `${host} fell silent. ${withoutNetwork}`);
    const json = answer.response.json().catch(() => undefined);
    const tree = treeSchema.safeParse(await within(json, { ms: connectMs, signal, expired }));
    if (tree.success) return tree.data;
    throw new LLMError('LLM_BAD_RESPONSE', `${host} does not list files like a model hub does.`);
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
      `${repository} has no .gguf files. Look for a repository with GGUF in its name.`,
    );
  const wanted = quantisation ? [quantisation] : preferred;
  const first = file
    ? models.find(({ path }) => path === file)
    : (wanted.flatMap((one) => models.filter(({ path }) => hasQuantisation(path, one)))[0] ??
      (quantisation ? undefined : models[0]));
  if (!first) {
    const names = models.slice(0, 12).map(({ path }) => path);
    const what = file ?? `${quantisation} file`;
    throw new LLMError('LLM_HTTP_ERROR', `${repository} has no ${what}. It has ${names.join(', ')}.`, { status: 404 });
  }
  return allParts(first, models);
}

/** A split model is one model: the engine loads its first file and finds the others beside it. */
function allParts(first: TreeFile, models: TreeFile[]): TreeFile[] {
  const all = partsOf(first.path);
  const parts = all.flatMap((path) => models.find((model) => model.path === path) ?? []);
  if (parts.length === all.length) return parts;
  const count = `split into ${all.length} files, and only ${parts.length} are there`;
  throw new LLMError('LLM_HTTP_ERROR', `${all[0]} is ${count}.`);
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
  return partsOf(new URL(first).pathname).map((pathname) => Object.assign(new URL(first), { pathname }).href);
}

/** A file by its address: the hub says its checksum and size in headers of its redirect, others their length. */
async function askFile(url: string, options: HubOptions): Promise<RemoteFile> {
  const answer = await get(url, 'HEAD', options);
  const name = decodeURIComponent(new URL(url).pathname.split('/').at(-1)!);
  if (!answer.response.ok) throw await refused(answer, name, new URL(url).origin);
  const bytes = Number(answer.header('x-linked-size') ?? answer.response.headers.get('content-length') ?? 0);
  if (!(bytes > 0) || !isFileName(name)) {
    const message = `${new URL(url).host} does not say how large ${name} is. Download it by hand and pick the file.`;
    throw new LLMError('LLM_BAD_RESPONSE', message);
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
  if (status === 404) return new LLMError('LLM_HTTP_ERROR', `There is no ${what} at ${host}.`, { status });
  if (status === 401 || status === 403) {
    // The hub answers 401 to repositories that do not exist, too.
    const message = `${host} does not give ${what} to everybody: it does not exist, or its licence must be accepted on its page (${page}). Towpath sends no token: accept it there, download the .gguf file by hand, and pick the file.`;
    return new LLMError('LLM_AUTH_FAILED', message, { status });
  }
  return new LLMError('LLM_HTTP_ERROR', `${host} answered ${status} for ${what}. ${withoutNetwork}`, {
    status,
    retryable: status >= 500 || status === 429,
  });
}

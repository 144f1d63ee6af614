import * as z from 'zod';
import { message } from '../../../protocol/text/l10n.ts';
import { joinLocalizableTexts } from '../../../protocol/text/localized.ts';
import { withDeadline } from '../../core/deadlines.ts';
import { LLMError } from '../../core/errors.ts';
import { parseJson } from '../../core/json.ts';
import { splitModelParts } from '../modelFile/splitModel.ts';
import { offlineModelHint, sendAnonymousRequest, type WebResponse } from './fetchRange.ts';
import type { ModelAddress } from './modelAddress.ts';

export interface ModelDownloadFile {
  name: string;
  url: string;
  bytes: number;
  sha256?: string;
}

export interface DownloadableModel {
  address: string;
  files: ModelDownloadFile[];
}

interface HubOptions {
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
const maxTreeBytes = 16 * 1024 * 1024;

const preferred = ['Q4_K_M', 'Q4_K_S', 'Q4_0', 'MXFP4', 'Q5_K_M', 'Q8_0'];

/**
 * Returns the files of an address with sizes and checksums from the server. Hub API: `GET
 * /api/models/{repository}/tree/{revision}?recursive=true`, files at `/{repository}/resolve/{revision}/…`.
 */
export async function findDownloadableModel(
  address: ModelAddress,
  text: string,
  options: HubOptions,
): Promise<DownloadableModel> {
  if (address.kind === 'web') {
    const files: ModelDownloadFile[] = [];
    for (const url of urlsOf(address.url)) files.push(await askFile(url, options)); // stops at the first missing file
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
    if (!answer.response.ok) throw await downloadRefusedError(answer, repository, base);
    const silent = message('{0} stopped responding.', host);
    const expired = () => new LLMError('LLM_TIMEOUT', joinLocalizableTexts([silent, offlineModelHint]));
    const json = readJson(answer.response).catch(() => undefined);
    const tree = treeSchema.safeParse(await withDeadline(json, { ms: connectMs, signal, expired }));
    if (tree.success) return tree.data;
    throw new LLMError('LLM_BAD_RESPONSE', message('{0} does not list files as a model hub does.', host));
  } finally {
    done.abort(); // closes the socket of an endless answer
  }
}

/** Reads the file list; throws beyond its limits. Leaving the loop cancels the body. */
async function readJson({ body }: Response): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > maxTreeBytes) throw new RangeError(`more than ${maxTreeBytes} bytes`);
    parts.push(part);
  }
  return parseJson(new TextDecoder().decode(Buffer.concat(parts)));
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

function allParts(first: TreeFile, models: TreeFile[]): TreeFile[] {
  const all = splitModelParts(first.path);
  const parts = all.flatMap((path) => models.find((model) => model.path === path) ?? []);
  if (parts.length === all.length) return parts;
  throw new LLMError(
    'LLM_HTTP_ERROR',
    message('{0} is split into {1} files, but only {2} exist.', all[0]!, all.length, parts.length),
  );
}

/** Excludes files that are no model: image projectors and importance matrices of the quantisation. */
const isModel = (path: string) => isFileName(path.split('/').at(-1)!) && !/(^|\/)(mmproj|imatrix)/i.test(path);

const isFileName = (name: string) => /^[^\\/:*?"<>|\p{Cc}]+\.gguf$/iu.test(name);

function hasQuantisation(path: string, quantisation: string): boolean {
  const name = quantisation.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(^|[-._/])${name}([-._/]|$)`, 'i').test(path);
}

function urlsOf(first: string): string[] {
  return splitModelParts(new URL(first).pathname).map((pathname) => Object.assign(new URL(first), { pathname }).href);
}

/** Returns size and checksum of a URL. The hub sends both in the headers of its redirect; other servers send a length. */
async function askFile(url: string, options: HubOptions): Promise<ModelDownloadFile> {
  const answer = await get(url, 'HEAD', options);
  const name = decodeURIComponent(new URL(url).pathname.split('/').at(-1)!);
  if (!answer.response.ok) throw await downloadRefusedError(answer, name, new URL(url).origin);
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
  sendAnonymousRequest({ method, url, connectMs, signal });

export async function downloadRefusedError({ response }: WebResponse, what: string, origin: string): Promise<LLMError> {
  await response.body?.cancel();
  const { status } = response;
  const { host } = new URL(origin);
  const page = /^[\w.-]+\/[\w.-]+$/.test(what) ? `${origin}/${what}` : origin;
  if (status === 404) return new LLMError('LLM_HTTP_ERROR', message('There is no {0} at {1}.', what, host), { status });
  if (status === 401 || status === 403) {
    // The hub also answers 401 for repositories that do not exist.
    const text = message(
      '{0} restricts {1}: it does not exist, or its license must be accepted on its page ({2}). Towpath sends no token. Accept the license there, download the .gguf file, and pick the file.',
      host,
      what,
      page,
    );
    return new LLMError('LLM_AUTH_FAILED', text, { status });
  }
  const answered = message('{0} answered {1} for {2}.', host, status, what);
  return new LLMError('LLM_HTTP_ERROR', joinLocalizableTexts([answered, offlineModelHint]), {
    status,
    retryable: status >= 500 || status === 429,
  });
}

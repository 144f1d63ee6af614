import { message } from '../../../protocol/text/l10n.ts';
import { UserFacingError } from '../../../protocol/text/localized.ts';
export type ModelAddress =
  | { kind: 'hub'; repository: string; revision: string; quantisation?: string; file?: string }
  | { kind: 'web'; url: string };

const hubPrefix = /^(hf|huggingface):(\/\/)?/i;
const repositoryName = /^[\w.-]+\/[\w.-]+$/;
const revisionName = /^[\w.-]+$/;

/**
 * Parses `hf:owner/repository`, `hf:owner/repository:Q4_K_M`, `hf:owner/repository/folder/file.gguf`, a page or file of the hub, or any
 * other `https://….gguf`. Throws an `AddressTrouble` that explains the valid forms.
 */
export function parseModelAddress(text: string, hub: string): ModelAddress {
  const address = text.trim();
  if (hubPrefix.test(address)) return hubAddress(address.replace(hubPrefix, ''));
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new AddressTrouble();
  if (url.username || url.password)
    throw new AddressTrouble(message('An address with a user name or password is not used.'));
  if (!isDecodable(url.pathname))
    throw new AddressTrouble(message('“%” is invalid in this address. Write %25 for a percent sign.'));
  if (url.origin === new URL(hub).origin || url.hostname === 'huggingface.co') return pageAddress(url);
  if (!url.pathname.toLowerCase().endsWith('.gguf')) throw new AddressTrouble();
  return { kind: 'web', url: url.href };
}

class AddressTrouble extends UserFacingError {
  constructor(
    text = message(
      'A model address is hf:owner/repository, hf:owner/repository:Q4_K_M, hf:owner/repository/file.gguf or https://….gguf.',
    ),
  ) {
    super(text);
  }
}

function hubAddress(rest: string): ModelAddress {
  const [, repository, file, quantisation] =
    /^([^/:]+\/[^/:]+?)(?:\/(.+\.gguf))?(?::([\w.-]+))?$/i.exec(rest.replace(/\/$/, '')) ?? [];
  if (!repository || !isRepository(repository) || (file !== undefined && !isInside(file))) throw new AddressTrouble();
  return { kind: 'hub', repository, revision: 'main', ...(file ? { file } : quantisation ? { quantisation } : {}) };
}

/** Parses `/owner/repository`, `/owner/repository/blob/main/file.gguf` or `/owner/repository/resolve/main/file.gguf`. */
function pageAddress(url: URL): ModelAddress {
  const [owner, name, view, revision = 'main', ...file] = url.pathname
    .split('/')
    .filter(Boolean)
    .map(decodeURIComponent);
  const repository = `${owner}/${name}`;
  if (!owner || !name || !isRepository(repository) || !isRevision(revision)) throw new AddressTrouble();
  const path = file.join('/');
  if (path === '') return { kind: 'hub', repository, revision };
  if (!/^(blob|resolve)$/.test(view ?? '') || !path.toLowerCase().endsWith('.gguf') || !isInside(path))
    throw new AddressTrouble();
  return { kind: 'hub', repository, revision, file: path };
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const isDots = (name: string) => /^\.+$/.test(name);
const isRepository = (name: string) => repositoryName.test(name) && !name.split('/').some(isDots);
const isRevision = (name: string) => revisionName.test(name) && !isDots(name);
const isInside = (file: string) => !file.split('/').some((part) => part === '' || isDots(part));

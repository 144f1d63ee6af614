import type { LocalizedMessage } from '../../protocol/text/l10n.ts';
import { secretTokenPatterns } from '../core/tokenForms.ts';
import { mayContainSecretsReason } from '../policy/secretFiles.ts';
import { openRegularFile, readFileHeadSync } from './regularFile.ts';

// Bytes to inspect: keys are near the beginning of their file.
const headBytes = 8 * 1024;

const entryForms: readonly string[] = [
  String.raw`aws_(?:secret_access_key|session_token)["']?\s*[=:]\s*["']?([A-Za-z0-9/+]{40,})`,
  String.raw`(?<![A-Za-z0-9])_auth(?:Token)?\s*=\s*"?(?=[A-Za-z_+/=-]*\d)([A-Za-z0-9+/=_-]{20,})`,
  String.raw`client-key-data:\s*([A-Za-z0-9+/=]{40,})`,
  String.raw`"auth"\s*:\s*"([A-Za-z0-9+/=]{20,})"`,
  '(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{40,})',
];

// Matches a key after a header and optional lines about encryption; text with only a header has no key.
const privateKey = new RegExp(
  String.raw`-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[\s"'\x60+,;>|#*]|\\+[nrt])*` +
    String.raw`(?:[\w-]+: [^\n\\]{0,100}(?:\s|\\+[nr])+){0,4}(?:[\s"'\x60+,;>|#*]|\\+[nrt])*([A-Za-z0-9+/=]{40,})`,
  'g',
);
const puttyKey = /^PuTTY-User-Key-File-\d: /;

const random = new RegExp(
  `(?<![A-Za-z0-9_])(?:${secretTokenPatterns.join('|')})(?![A-Za-z0-9])|(?:${entryForms.join('|')})`,
  'g',
);

/** Tests for secrets in a text or at the beginning of a file: private keys, or tokens of well-known forms. */
export function headContainsSecrets(content: string | Uint8Array): boolean {
  const head = Buffer.from(content.slice(0, headBytes) as string);
  const text = head.toString('latin1').replaceAll('\0', ''); // UTF-16 too, because all patterns are ASCII
  if (puttyKey.test(text)) return true;
  return [privateKey, random].some((form) =>
    [...text.matchAll(form)].some((match) => isRandom(match.slice(1).find((group) => group !== undefined) ?? '')),
  );
}

export function containsSecretsAnywhere(text: string): boolean {
  for (let at = 0; at < text.length; at += headBytes / 2)
    if (headContainsSecrets(text.slice(at, at + headBytes))) return true;
  return false;
}

function isRandom(value: string): boolean {
  const different = new Set(value).size;
  if (different < Math.min(10, value.length / 2)) return false;
  return !/example|sample|dummy|fake|placeholder|redacted|your|secret|token|(.)\1{4}|abcdef|123456|567890/i.test(value);
}

/** Tests a file (absolute path) synchronously. False if unreadable. */
export function fileContainsSecretsSync(path: string): boolean {
  const head = readFileHeadSync(path, headBytes);
  return head !== undefined && headContainsSecrets(head);
}

/** Returns the reason to approve an access to a file (real path) because of the content; undefined if none or unreadable. */
export async function secretContentReason(path: string): Promise<LocalizedMessage | undefined> {
  try {
    const { handle } = await openRegularFile(path);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
      return headContainsSecrets(buffer.subarray(0, bytesRead)) ? mayContainSecretsReason : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

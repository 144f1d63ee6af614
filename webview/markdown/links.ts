import { decodeEntities } from './entities.ts';

/** Destination of a link. `host` is displayed before opening. */
export type LinkTarget =
  | { kind: 'external'; url: string; host: string }
  | { kind: 'file'; path: string; line?: number }
  | { kind: 'inert' };

const inert: LinkTarget = { kind: 'inert' };

/** Maximum address length; longer addresses are likely to leak data. */
const longestAddress = 2048;

/** Classifies a link: an address to open after confirmation, a file of the workspace, or nothing. Ambiguous links are nothing. */
export function linkTarget(href: string): LinkTarget {
  const address = decodeEntities(href).trim();
  // ⟨ ⟩ enclose the escapes of `visible`: an address with hidden characters leads nowhere.
  if (address === '' || address.length > longestAddress || /[\t\n\r⟨⟩]/.test(address)) return inert;
  if (/^https?:\/\//i.test(address)) return webTarget(address);
  if (/^mailto:[^/?\s]+@[^/\s]+$/i.test(address)) {
    return { kind: 'external', url: address, host: address.slice('mailto:'.length).split('?')[0]! };
  }
  return fileTarget(address);
}

/** Uses punycode without userinfo: `https://good.test@evil.test` leads to `evil.test` and displays this host. */
function webTarget(address: string): LinkTarget {
  if (!URL.canParse(address)) return inert;
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.host === '' ? inert : { kind: 'external', url: url.href, host: url.host };
}

/**
 * Parses `src/a.ts`, `./src/a.ts`, `src/a.ts:12`, `src/a.ts:12:3`, `src/a.ts:12-20`, `src/a.ts#L12`, `src/a.ts#L12-L20`,
 * `src/a.ts#L12C3-L20C1`, and `docs/a.md#heading`, which leads to the file.
 */
function fileTarget(address: string): LinkTarget {
  const parts =
    /^(?<path>[^:#?&\\<>|*"]+?)(?::(?<line>\d{1,7})(?:[:-]\d+)?|#L(?<anchor>\d{1,7})(?:C\d+)?(?:-L?\d+(?:C\d+)?)?|#[^\s#<>"]*)?$/.exec(
      address,
    );
  if (!parts?.groups) return inert;
  const written = decoded(parts.groups.path!);
  if (parts.groups.line !== undefined && !(written && isPath.test(written))) return inert;
  const path = written?.replace(/^(\.\/)+/, '');
  if (!path || /^[/~]/.test(path) || /[:\\]/.test(path) || path.split('/').includes('..')) return inert;
  const line = Number(parts.groups.line ?? parts.groups.anchor);
  return line > 0 ? { kind: 'file', path, line } : { kind: 'file', path };
}

/**
 * Text before `:12` that is a path by its form: with a folder, an initial dot, an extension that starts with a letter, or a name like
 * Makefile. A single word may be a scheme (`tel:123`, `command:7`) or a host (`localhost:3000`) and leads nowhere; `./word:12` is a file.
 */
const isPath = /\/|^\.|.\.\p{L}[^.]*$|^\p{Lu}\p{L}+file$/u;

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined; // invalid percent encoding: not a path
  }
}

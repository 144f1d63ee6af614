import { parse } from 'yaml';
import type { WorkspaceRoot } from '../../workspace.ts';
import { expandWord } from '../expand.ts';
import { readPlain } from '../open.ts';
import { resolvePath } from '../paths.ts';

/** Bytes; a larger manifest names no packages. */
const largestManifest = 1_000_000;
/** More packages are not listed one by one for a person. */
const mostPackages = 40;

/**
 * The packages that the project in the open folder says it is made of (npm, pnpm, Cargo, Go), as workspace-relative folders, the
 * root (`.`) first. What only lies in the folder is none.
 */
export async function packagesOf(roots: readonly WorkspaceRoot[]): Promise<string[]> {
  const [root] = roots;
  const patterns = (await Promise.all(manifests.map(({ file, read }) => textOf(roots, file).then(read)))).flat();
  const found = new Set(['.']);
  for (const pattern of patterns) {
    if (!/^[\w.@*/-]+$/.test(pattern) || pattern.includes('..')) continue;
    const folders = (await expandWord(pattern.replace(/^\.\//, '').replace(/\/+$/, ''), root!.path)) ?? [];
    for (const folder of folders) {
      const place = await resolvePath(roots, folder, 'list').catch(() => undefined);
      if (place?.kind === 'folder' && found.size < mostPackages) found.add(place.relative);
    }
  }
  return [...found];
}

const manifests: { file: string; read(text: string): string[] }[] = [
  { file: 'package.json', read: (text) => inJson(text) },
  {
    file: 'pnpm-workspace.yaml',
    read: (text) => tried(() => strings((parse(text) as { packages?: unknown } | null)?.packages)),
  },
  { file: 'Cargo.toml', read: (text) => quotedIn(/^\s*members\s*=\s*\[([^\]]*)\]/m.exec(text)?.[1]) },
  { file: 'go.work', read: (text) => (/^use\s*\(([^)]*)\)/m.exec(text)?.[1] ?? '').split(/\s+/).filter(Boolean) },
];

function inJson(text: string): string[] {
  return tried(() => {
    const { workspaces } = JSON.parse(text) as { workspaces?: unknown };
    return strings(
      Array.isArray(workspaces) ? workspaces : (workspaces as { packages?: unknown } | undefined)?.packages,
    );
  });
}

const quotedIn = (text = ''): string[] => [...text.matchAll(/["']([^"']+)["']/g)].map(([, inside]) => inside!);
const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

function tried(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return []; // a manifest that cannot be read names no packages
  }
}

async function textOf(roots: readonly WorkspaceRoot[], file: string): Promise<string> {
  const place = await resolvePath(roots, file, 'read').catch(() => undefined);
  if (!place) return '';
  return readPlain(place.path, largestManifest).then(String, () => '');
}

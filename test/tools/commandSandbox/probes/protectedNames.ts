import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { changed, type Probe, type ProbeWorld } from './probe.ts';

/** A script that changes protected paths, and the paths. Nobody allows it. */
const kept = (name: string, script: string, paths: string | string[], other: Partial<Probe> = {}): Probe => ({
  ...{ name, script, effect: changed(...[paths].flat()), control: 'allowed' },
  ...other,
});

const creates = (path: string): Probe =>
  kept(
    `creates ${JSON.stringify(path)}`,
    `mkdir -p "$(dirname ${JSON.stringify(path)})"; echo x > ${JSON.stringify(path)}`,
    path,
  );

const newNames = [
  '.vscode/tasks.json',
  'folder/.vscode/launch.json',
  'folder/new/.vscode/settings.json',
  '.VSCODE/tasks.json',
  '.vѕcode/tasks.json', // a Cyrillic letter
  '.ｖscode/tasks.json',
  '.vs\u200bcode/tasks.json',
  '.vscode./tasks.json',
  '.idea/workspace.xml',
  '.devcontainer/devcontainer.json',
  'probe.code-workspace',
  '.github/workflows/a.yml',
  '.gitlab-ci.yml',
  'Jenkinsfile',
  'CLAUDE.md',
  'folder/AGENTS.md',
  'agents.MD',
  '.github/copilot-instructions.md',
  '.towpath/rules.md',
  '.claude/settings.json',
  '.cursor/mcp.json',
  '.mcp.json',
  '.husky/pre-commit',
  '.envrc',
  '.npmrc',
  '.gitattributes',
  '.gitmodules',
  '.pre-commit-config.yaml',
  '.cargo/config.toml',
  'sitecustomize.py',
  'folder/evil.pth',
  '.bashrc',
  '.gdbinit',
  '.venv/bin/python',
  'folder/node_modules/a/index.js',
  'lib/site-packages/a.py',
  '.hg/hgrc',
];

const linkTo =
  (target: string, name: string) =>
  ({ ws }: ProbeWorld) =>
    symlinkSync(target, `${ws}/${name}`);

export const protectedNames: readonly Probe[] = [
  ...newNames.map(creates),
  kept('changes a protected file', 'echo x >> .vscode/settings.json; echo x >> AGENTS.md', ['.vscode', 'AGENTS.md']),
  kept('removes protected files', 'rm -rf .vscode AGENTS.md', ['.vscode', 'AGENTS.md']),
  kept('moves a protected folder away', 'mv .vscode other', '.vscode'),
  kept(
    'moves a folder to a protected name',
    'mkdir new; echo x > new/tasks.json; rm -rf .vscode; mv new .vscode',
    '.vscode',
  ),
  kept(
    'moves a protected folder away and back with a change',
    'mv .vscode other; echo x > other/tasks.json; mv other .vscode',
    '.vscode',
  ),
  kept('changes the mode of a protected file', 'chmod 777 AGENTS.md', 'AGENTS.md'),
  kept(
    'replaces a protected folder by a link',
    'mkdir new; echo x > new/tasks.json; rm -rf .vscode; ln -s new .vscode',
    '.vscode',
  ),
  kept('gives a link a protected name', 'mkdir new; echo x > new/a.yml; ln -s new .github', '.github'),
  kept('replaces a protected folder by a file', 'rm -rf .vscode; echo x > .vscode', '.vscode'),
  kept('replaces a protected file by a link', 'echo x > new; ln -sf new AGENTS.md', 'AGENTS.md'),
  kept('writes through a link that was there', 'echo x > editor/tasks.json', '.vscode', {
    prepare: linkTo('.vscode', 'editor'),
  }),
  kept('writes through a link that it makes', 'ln -s .vscode editor; echo x > editor/tasks.json', '.vscode'),
  kept('writes through a link of an earlier command', 'ln -s .vscode editor', '.vscode', {
    next: 'echo x > editor/tasks.json',
  }),
  kept('writes through a hard link', 'ln AGENTS.md other; echo x >> other', 'AGENTS.md'),
  kept('writes through a hard link that was there', 'echo x >> other; ln -f other AGENTS.md', 'AGENTS.md', {
    prepare: ({ ws }) => linkSync(`${ws}/AGENTS.md`, `${ws}/other`),
  }),
  kept('gives a file a second, protected name', 'echo x > new; ln new CLAUDE.md', 'CLAUDE.md'),
  kept(
    'hides a protected folder in a new tree',
    'mkdir -p new/a/b/.vscode; echo x > new/a/b/.vscode/tasks.json; echo x > new/a/b/c',
    'new/a/b/.vscode',
  ),
  kept(
    'renames a tree around a protected folder',
    'mkdir -p new/vs; echo x > new/vs/tasks.json; mv new tree; mv tree/vs tree/.vscode',
    'tree/.vscode',
  ),
  kept(
    'replaces the folder around a protected folder',
    'mv sub old; mkdir -p sub/.vscode; echo x > sub/.vscode/tasks.json',
    'sub',
    {
      prepare({ ws }) {
        mkdirSync(`${ws}/sub/.vscode`, { recursive: true });
        writeFileSync(`${ws}/sub/.vscode/settings.json`, '{}');
      },
    },
  ),
  kept('replaces a folder by a link to a protected one', 'rm -rf folder; ln -s .vscode folder', '.vscode', {
    next: 'echo x > folder/tasks.json',
  }),
  kept(
    'creates installed code',
    'rm -rf node_modules; mkdir -p node_modules/.bin; echo x > node_modules/.bin/new; echo x > node_modules/.bin/tool',
    'node_modules',
    { control: 'none' },
  ),
  kept('moves installed code away', 'mv node_modules other; mkdir node_modules', 'node_modules', { control: 'none' }),
  kept('links installed code', 'rm -rf node_modules; ln -sfn folder node_modules; ln -s folder folder/node_modules', [
    'node_modules',
    'folder/node_modules',
  ]),
  kept('creates an environment', 'python3 -m venv --without-pip .venv', '.venv', { needs: ['python3'] }),
  kept('overwrites a secret file', 'echo x > .env; rm -f .env; mv -f file .env; ln -sf file .env', '.env', {
    control: 'none',
  }),
  kept(
    'removes the folder of a secret file',
    'rm -rf server; mv server other',
    ['server/.env.production', 'server/key.pem'],
    { control: 'none' },
  ),
  kept('creates a secret file', 'echo x > folder/.env', 'folder/.env'),
];

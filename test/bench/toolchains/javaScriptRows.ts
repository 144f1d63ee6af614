import type { ToolchainRow } from './row.ts';

const packageJson = (fields: object) => JSON.stringify({ name: 'app', version: '1.0.0', private: true, ...fields });
const module = { type: 'module' };
const addTest =
  "import test from 'node:test'; import assert from 'node:assert'; test('adds', () => assert.equal(1 + 1, 2));";
const vitestFile = "import { expect, it } from 'vitest'; it('adds', () => expect(1 + 1).toBe(2));";

const viteFiles = {
  'package.json': packageJson({ ...module, devDependencies: { vite: '^6.0.0', vitest: '^3.0.0' } }),
  'index.html': '<script type="module" src="/main.ts"></script>',
  'vite.config.ts': 'export default {};',
  'main.ts': 'import { add } from "./add"; document.title = String(add(1, 2));',
  'add.ts': 'export const add = (one: number, other: number) => one + other;',
  'add.test.ts': vitestFile,
};

export const javaScriptRows: readonly ToolchainRow[] = [
  {
    run: 'npm install, node --test',
    files: { 'package.json': packageJson({ ...module, dependencies: { 'is-odd': '^3.0.1' } }), 'add.test.js': addTest },
    first: 'npm install && node --test',
    second: 'node --test && node -e "require(\'is-odd\')"',
  },
  {
    run: 'npm install, again',
    isSecondOutside: true,
    files: { 'package.json': packageJson({ dependencies: { 'is-odd': '^3.0.1' } }) },
    first: 'npm install',
  },
  {
    run: 'npm install of one more package',
    isSecondOutside: true,
    files: { 'package.json': packageJson({ dependencies: { 'is-odd': '^3.0.1' } }) },
    first: 'npm install',
    second: 'npm install is-even && node -e "require(\'is-even\')"',
  },
  {
    run: 'npm ci, again',
    isSecondOutside: true,
    files: { 'package.json': packageJson({ dependencies: { 'is-odd': '^3.0.1' } }) },
    prepare: 'npm install --package-lock-only',
    first: 'npm ci',
  },
  {
    run: 'npm install with a native build',
    files: { 'package.json': packageJson({ dependencies: { 'utf-8-validate': '^6.0.3' } }) },
    first: 'npm install --build-from-source && node -e "require(\'utf-8-validate\')"',
    second: 'node -e "require(\'utf-8-validate\')"',
  },
  { run: 'npx of a package', first: 'npx --yes semver@7 1.2.3' },
  {
    run: 'pnpm by npx',
    isSecondOutside: true,
    files: { 'package.json': packageJson({ dependencies: { 'is-odd': '^3.0.1' } }) },
    first: 'npx --yes pnpm@9 install && npx --yes pnpm@9 ls',
  },
  {
    run: 'pnpm by corepack',
    needs: ['corepack'],
    files: { 'package.json': packageJson({ packageManager: 'pnpm@9.15.0', dependencies: { 'is-odd': '^3.0.1' } }) },
    first: 'corepack pnpm install',
  },
  {
    run: 'vitest',
    files: viteFiles,
    first: 'npm install && npx vitest run',
    second: 'npx vitest run',
  },
  {
    run: 'vite build',
    files: viteFiles,
    first: 'npm install && npx vite build',
    second: 'npx vite build',
  },
  {
    run: 'vite dev and curl',
    files: viteFiles,
    first:
      'npm install && (npx vite --port 5199 & for i in $(seq 40); do sleep 0.25; curl -sf -m 5 http://localhost:5199/main.ts && break; done; s=$?; kill %1; exit $s)',
    second:
      '(npx vite --port 5199 & for i in $(seq 40); do sleep 0.25; curl -sf -m 5 http://localhost:5199/main.ts && break; done; s=$?; kill %1; exit $s)',
  },
  {
    run: 'tsc, eslint, prettier',
    files: {
      'package.json': packageJson({
        ...module,
        devDependencies: { typescript: '^5.0.0', eslint: '^9.0.0', prettier: '^3.0.0' },
      }),
      'tsconfig.json':
        '{ "compilerOptions": { "strict": true, "incremental": true, "outDir": "out", "types": [] }, "include": ["*.ts"] }',
      'eslint.config.js': 'export default [{ rules: { "no-undef": "error" } }];',
      'add.ts': 'export const add = (one: number, other: number) => one + other;\n',
    },
    first: 'npm install && npx tsc && npx eslint --cache eslint.config.js && npx prettier --cache --check add.ts',
    second: 'npx tsc && npx eslint --cache eslint.config.js && npx prettier --cache --check add.ts',
  },
  {
    run: 'jest',
    files: {
      'package.json': packageJson({ devDependencies: { jest: '^29.0.0' } }),
      'add.test.js': "test('adds', () => expect(1 + 1).toBe(2));",
    },
    first: 'npm install && npx jest',
    second: 'npx jest',
  },
  {
    run: 'esbuild, and watch of it',
    files: {
      'package.json': packageJson({ devDependencies: { esbuild: '^0.25.0' } }),
      'main.ts': 'console.log(1 as number);',
    },
    first: 'npm install && npx esbuild main.ts --bundle --outfile=out.js && node out.js',
    second:
      '(sleep 3 | npx esbuild main.ts --bundle --outfile=out.js --watch & sleep 1; echo "console.log(2)" > main.ts; sleep 1.5; node out.js | grep 2)',
  },
  {
    run: 'Chromium without a window',
    needs: ['chromium-headless-shell'],
    files: { 'page.html': '<title>hello</title><p id=p></p><script>p.textContent = 6 * 7</script>' },
    first: 'timeout 60 chromium-headless-shell --no-sandbox --dump-dom "file://$PWD/page.html" | grep 42',
  },
  {
    run: 'Chromium with its own sandbox',
    needs: ['chromium-headless-shell'],
    files: { 'page.html': '<p id=p></p><script>p.textContent = 6 * 7</script>' },
    first: 'timeout 60 chromium-headless-shell --dump-dom "file://$PWD/page.html" | grep 42',
    isOutside: true,
  },
];

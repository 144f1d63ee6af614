import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import type { ApprovalPolicy } from '../../../src/protocol/content/policy.ts';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';
import { approvalReasonForBuildFile } from '../../../src/tools/policy/buildFiles.ts';
import { hiddenSensitiveNames, protectedPathReason } from '../../../src/tools/policy/protectedPaths.ts';
import { protectedPathTable } from '../../../src/tools/policy/protectedTable.ts';
import { expandBraces } from '../../../src/tools/shellSyntax/expandWord.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data, error } from '../conversation.ts';

/** Nothing that a person can set allows more than this. */
const loosest: Partial<ApprovalPolicy> = {
  preset: 'autopilot',
  rules: [{ scope: 'user', effect: 'allow', tool: '*' }],
};

let workspace: TemporaryWorkspace;
beforeEach(async () => {
  workspace = await temporaryWorkspace({ 'a.txt': 'one\n' });
});
afterEach(() => workspace.cleanup());

/** How two changes of one file are asked about when each answer is *Allow for This Run*. */
async function asksAbout(path: string): Promise<'every time' | 'once in a run' | 'free'> {
  const { call, asked } = conversation(workspace, { policy: loosest, answer: 'allow-run' });
  await data(call('fs.write', { path, content: '{"name": "one"}\n' })); // some are read: what cannot be is asked about every time
  await data(call('fs.edit', { path, edits: [{ oldText: 'one', newText: 'two' }] }));
  const every = asked.every(({ plan }) => plan.grant === undefined);
  return asked.length === 0 ? 'free' : asked.length === 2 && every ? 'every time' : 'once in a run';
}

const everyTime = `
  .vscode/settings.json sub/.vscode/tasks.json app.code-workspace .devcontainer.json .devcontainer/devcontainer.json .exrc .vimrc
  .dir-locals.el .gdbinit home/.config/Code/User/settings.json home/.config/VSCodium/User/keybindings.json
  Library/Application Support/Cursor/User/settings.json AppData/Roaming/Code - OSS/User/settings.json
  .gitlab-ci.yml .gitlab-ci.yaml azure-pipelines.yml azure-pipelines.yaml ci/azure-pipelines-release.yml buildspec.yml
  cloudbuild.yml cloudbuild.yaml .travis.yaml bitbucket-pipelines.yaml .semaphore/x.yml .teamcity/settings.kts .tekton/run.yaml
  Jenkinsfile Jenkinsfile.release .cirrus.star .github/workflows/x.yml .drone.jsonnet
  AGENTS.md .kiro/mcp.json .kiro/steering/x.md .junie/x.md .amazonq/x.json QWEN.md copilot-instructions.md opencode.json
  docs/x.instructions.md .mcp.json .goosehints
  .husky/pre-commit .envrc .npmrc .yarnrc.yml pnpm-workspace.yaml .pnpmfile.mjs nuget.config sitecustomize.py lefthook.yaml mise.local.toml
  .venv/bin/python venv/bin/activate .venv/Scripts/python.exe lib/site-packages/x.pth node_modules/.bin/eslint
  node_modules/typescript/lib/tsserver.js packages/a/node_modules/eslint/lib/api.js .pnp.cjs ruby_lsp/x/addon.rb
  home/.config/autostart/x.desktop home/.config/systemd/user/x.service Library/LaunchAgents/x.plist .bashrc .bash_aliases
  .env .env.local tls.key .bash_history .config/gh/hosts.yml .config/gcloud/x.json AuthKey.p8 config/secrets.prod.yaml
  .hg/hgrc .hgrc .svn/wc.db .jj/repo/config.toml .bzr/branch/branch.conf _darcs/prefs/defaults .fslckout .sl/config .got/got.conf CVS/Root .helix/languages.toml .pijul/config
  .newagent/mcp.json .newagent/mcp-servers.toml .newagent/hooks/x.sh .newagent/hooks.json .newagent/settings.json .newagent/settings.local.json
  .newagent/agents/x.md .newagent/rules/x.md .newagent/deep/skills/x/run.sh .newagent/extensions/x/main.js .newagent/plugins/x.js
  .newagent/commands/x.md skills/x/SKILL.md docs/skill.md tools/plugin.json tools/gemini-extension.json marketplace.json
  rust-analyzer.toml .rust-analyzer.toml .sourcekit-lsp/config.json .factorypath Steepfile .gitpod.yml .codesandbox/tasks.json
  .theia/settings.json .mise/tasks/x mise-tasks/x .poetry/plugins/x.py .pdm-plugins/x .terraform/providers/x
`;
const onceInARun = `
  eslint.config.js eslint.config.mts .eslintrc.js .eslintrc.json .eslintrc prettier.config.cjs .prettierrc.mjs vite.config.ts jest.config.mjs
  webpack.prod.config.js babel.config.json tailwind.config.js next.config.mjs karma.conf.js vitest.workspace.ts jest.setup.ts .mocharc.json
  conftest.py tests/conftest.py pytest.ini tox.ini noxfile.py .flake8 .pylintrc ruff.toml .golangci.yml .rubocop.yml .clang-tidy
  build.rs Cargo.toml app.csproj lib.fsproj x.vcxproj x.wixproj Directory.Build.props Directory.Build.targets
  Directory.Packages.props Directory.Build.rsp my.targets global.json web.config server.xml
  Makefile makefile GNUmakefile Makefile.am rules.mk CMakeLists.txt CMakePresets.json x.cmake meson.build BUILD.bazel BUILD defs.bzl build.gradle
  build.gradle.kts settings.gradle gradle.properties gradlew pom.xml build.sbt Gemfile Rakefile x.rake x.gemspec setup.py setup.cfg
  pyproject.toml justfile .justfile Taskfile.yml Dockerfile Dockerfile.prod api.dockerfile docker-compose.yml
  compose.override.yaml gulpfile.js Gruntfile.ts package.json composer.json deno.json tsconfig.json tsconfig.build.json turbo.json
  yarn.lock Cargo.lock Gemfile.lock package-lock.json pnpm-lock.yaml bun.lockb npm-shrinkwrap.json go.sum go.mod
  requirements.txt requirements-dev.txt flake.nix .terraform.lock.hcl devbox.json rust-toolchain.toml profiles.clj tools/bazel
  .eleventy.js gatsby-config.js gatsby-node.mjs biome.json psalm.xml phpstan.neon phpstan.dist.neon
`;
const free = `
  README.md src/index.ts src/config.ts src/build.ts src/user/settings.json src/models/user/profile.ts docs/setup.md lockout.ts src/lock.json
  test/a.test.ts test/helpers.py public/index.html data.json notes.txt src/env.ts src/venv.ts locksmith.lock.ts conftest.md build/readme.md
  src/autostart/a.ts deploy/systemd/x.service src/agents/agent.ts src/node_modules.ts src/makefile.ts src/environment.ts bin/run.sh .gitignore
  .editorconfig web.config.md src/rules.ts HEAD refs config src/hooks/useThing.ts src/agents/x.ts src/settings.json rules/x.md plugins/a.ts
  src/commands/run.ts extensions/a/main.ts src/mcp.ts .storybook/preview.tsx .changeset/wild-cats.md src/skills.md src/plugin.ts
`;
const words = (text: string) => text.trim().split(/\n\s+|(?<!Application|Code|-) (?!Support|- |OSS)/);

describe('the table of protected places', () => {
  it('gives each entry a reason, and reads every one of its globs', () => {
    for (const row of protectedPathTable) {
      assert.match(toEnglishText(row.reason), /^It .+\.$/);
      const names = [row.folders, row.files, row.except, row.belowHidden].flatMap((one) => one?.split(' ') ?? []);
      for (const glob of [...names, ...(row.paths ?? [])])
        assert.ok(glob !== '' && !/[{}]/.test(glob.replace(/\{[^{}]*,[^{}]*\}/g, '')) && !/[?[\]!]/.test(glob), glob);
    }
  });

  it('knows the hidden names that a glob may mean', () => {
    for (const name of '.vscode .claude .github .husky .envrc .vimrc .dir-locals.el .bashrc .zshenv .tcshrc .mise.toml .env .ssh'.split(
      ' ',
    ))
      assert.ok(hiddenSensitiveNames.includes(name), name);
  });

  // What VS Code itself does not let an agent edit unasked, an example of each pattern.
  const ofEditor = `
    .vscode/tasks.json sub/.vscode/mcp.json package.json server.xml build.rs web.config .gitattributes .env Cargo.toml app.code-workspace a.csproj a.fsproj a.vbproj a.vcxproj a.proj a.targets a.props build.gradle
    app/build.gradle.kts gradle.properties ruby_lsp/x/addon ruby_lsp/x/addon.rb yarn.lock Cargo.lock bun.lock pnpm-lock.yaml package-lock.json
    .mcp.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.js .pnpmfile.cjs .pnpmfile.mjs pnpm-workspace.yaml .github/agents/a.md .github/hooks/a.json
    .claude/agents/a.md .claude/settings.json .claude/settings.local.json .codex/agents/a.toml .codex/config.toml .codex/hooks.json`;
  for (const file of ofEditor.trim().split(/\s+/))
    it(`has ${file}, as the editor's own list has`, () => {
      const segments = file.split('/');
      assert.ok(protectedPathReason(segments) ?? approvalReasonForBuildFile(segments));
    });
});

describe('a change of a protected place, under autopilot and a rule that allows all', () => {
  const table = [
    [everyTime, 'every time'],
    [onceInARun, 'once in a run'],
    [free, 'free'],
  ] as const;
  for (const [names, expect] of table)
    for (const path of words(names)) it(`${path}: ${expect}`, async () => assert.equal(await asksAbout(path), expect));

  it('allowed for the run is that file alone, by whatever tool', async () => {
    workspace.write('eslint.config.js', 'a\n');
    workspace.write('sub/eslint.config.js', 'a\n');
    const { call, asked } = conversation(workspace, { policy: loosest, answer: 'allow-run' });
    await data(call('fs.write', { path: 'eslint.config.js', content: 'b\n' }));
    await data(call('fs.edit', { path: './eslint.config.js', edits: [{ oldText: 'b', newText: 'c' }] }));
    await data(
      call('fs.apply_patch', { patch: '--- a/eslint.config.js\n+++ b/eslint.config.js\n@@ -1 +1 @@\n-c\n+d\n' }),
    );
    await data(call('fs.write', { path: 'a.txt', content: 'b\n' }));
    assert.deepEqual(
      asked.map(({ plan }) => plan.grant),
      ['changes of "eslint.config.js"'],
    );
    await data(call('fs.write', { path: 'sub/eslint.config.js', content: 'b\n' }));
    await data(call('fs.delete', { path: 'eslint.config.js' }));
    assert.deepEqual(
      asked.map(({ plan }) => plan.grant),
      ['changes of "eslint.config.js"', 'changes of "sub/eslint.config.js"', 'fs.delete of "eslint.config.js"'],
    );
    assert.match(asked[0]!.plan.why, /may be a program itself\. Allow for This Run applies to this file only\./);
  });

  it('what a folder holds counts when it is moved or deleted', async () => {
    workspace.write('app/src/vite.config.ts', 'a\n');
    const { call, asked } = conversation(workspace, { policy: loosest });
    await data(call('fs.move', { from: 'app', to: 'web' }));
    await data(call('fs.delete', { path: 'web' }));
    assert.deepEqual(
      asked.map(({ plan }) => [plan.grant, /vite\.config\.ts\. It is the configuration/.test(plan.why)]),
      [
        ['fs.move of "app" to "web"', true],
        ['fs.delete of "web"', true],
      ],
    );
  });

  it('a rule that denies holds for them as well', async () => {
    const deny = { scope: 'user', effect: 'deny', tool: 'fs.*', path: '**/*.config.js' } as const;
    const { call, asked } = conversation(workspace, { policy: { ...loosest, rules: [deny] } });
    assert.equal((await error(call('fs.write', { path: 'eslint.config.js', content: '' }))).code, 'TOOL_DENIED');
    assert.equal(asked.length, 0);
  });

  it('a command that names a configuration is no more asked about than before', async () => {
    workspace.write('vite.config.ts', 'a\n');
    for (const command of [
      'cat vite.config.ts',
      'git diff -- vite.config.ts',
      'ls node_modules',
      'wc -l package.json',
    ]) {
      const { call, asked } = conversation(workspace, { policy: loosest });
      await call('shell.run', { command });
      assert.deepEqual(asked, [], command);
    }
  });

  it('a file that a configured server is started from counts, by whatever tool', async () => {
    workspace.write('tools/server.js', 'a\n');
    workspace.roots = [{ ...workspace.roots[0]!, startedFiles: [paths.join(workspace.root, 'tools/server.js')] }];
    assert.equal(await asksAbout('tools/server.js'), 'every time');
    assert.equal(await asksAbout('tools/server2.js'), 'free');
    symlinkSync('tools', paths.join(workspace.root, 'linked'));
    assert.equal(await asksAbout('linked/server.js'), 'every time');
    for (const command of ['echo x > tools/server.js', 'sed -i s/a/b/ tools/server.js', 'cp a.txt ./tools/server.js']) {
      const { call, asked } = conversation(workspace, { policy: loosest, answer: 'deny' });
      await call('shell.run', { command });
      assert.match(asked[0]?.plan.why ?? '', /MCP server is started from it/, command);
    }
  });

  it('any virtual environment is one, whatever it is called', async () => {
    workspace.write('tools/py/pyvenv.cfg', 'home = /usr/bin\n');
    assert.equal(await asksAbout('tools/py/bin/python'), 'every time');
    symlinkSync('tools/py', paths.join(workspace.root, 'link'));
    assert.equal(await asksAbout('link/bin/pip'), 'every time');
  });
});

/** Folders of agents, those included that nobody has heard of yet, and what agents run or are told by in them. */
const agentFolders =
  '.claude .codex .gemini .cursor .windsurf .kiro .junie .amazonq .qwen .trae .augment .crush .goose .factory .copilot .opencode .roo .kilocode .continue .agents .newagent .other-agent'.split(
    ' ',
  );
const inAgentFolders =
  'mcp.json mcp-servers.toml mcp_config.json hooks/start.sh hooks.json settings.json settings.local.json agents/reviewer.md rules/style.md skills/x/run.py commands/ship.md extensions/x/index.js plugins/x.js'.split(
    ' ',
  );
const besides =
  'AGENTS.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md WARP.md CRUSH.md packages/a/AGENTS.md .mcp.json mcp.json .cursorrules .windsurfrules .clinerules/a.md .goosehints .roomodes .rules .aider.conf.yml opencode.json .opencode.jsonc crush.json docs/a.instructions.md docs/a.prompt.md docs/a.chatmode.md docs/a.agent.md skills/x/SKILL.md tools/gemini-extension.json plugin.json marketplace.json .github/copilot-instructions.md .github/agents/a.md .github/hooks/a.json'.split(
    ' ',
  );
const ordinary =
  'src/hooks/useThing.ts src/agents/agent.ts src/mcp/server.ts src/settings.json src/rules/index.ts src/skills/list.tsx src/commands/run.ts src/plugins/a.ts extensions/a/main.ts docs/agents.html docs/skills.md .storybook/preview.tsx .changeset/wild-cats.md .vitepress/theme/index.ts'.split(
    ' ',
  );

describe('files that configure or run in other agents, while edits are allowed', () => {
  const asks = async (paths: readonly string[]) => {
    const { call, asked } = conversation(workspace, { policy: { preset: 'edits-free' }, answer: 'deny' });
    const unasked: string[] = [];
    for (const path of paths) {
      const before = asked.length;
      await call('fs.write', { path, content: 'x\n' });
      if (asked.length === before) unasked.push(path);
    }
    return unasked;
  };
  const all = [...agentFolders.flatMap((folder) => inAgentFolders.map((name) => `${folder}/${name}`)), ...besides];

  it(`each of ${all.length} is asked about`, async () => assert.deepEqual(await asks(all), []));

  it('and so are those below a folder', async () =>
    assert.deepEqual(await asks(all.filter((_, at) => at % 7 === 0).map((path) => `packages/a/${path}`)), []));

  it('files of projects with names like these are free', async () =>
    assert.deepEqual(await asks(ordinary), [...ordinary]));
});

describe('a folder that Git takes for its own', () => {
  const repository = ['HEAD', 'config', 'objects/k', 'refs/k'];
  for (const last of repository)
    it(`is not made by adding ${last}`, async () => {
      for (const path of repository) if (path !== last) workspace.write(`docs/x/${path}`, 'x\n');
      const { reason } = await error(
        conversation(workspace).call('fs.write', { path: `docs/x/${last}`, content: 'x' }),
      );
      assert.equal(reason, 'GIT_INTERNAL');
    });

  it('is not written to, moved into place or led to another one', async () => {
    for (const path of repository) workspace.write(`docs/x/${path}`, 'x\n');
    workspace.write('y/objects/k', 'x');
    workspace.write('y/HEAD', 'x');
    workspace.write('y2/refs/k', 'x');
    workspace.write('z/HEAD', 'x');
    const { call, asked } = conversation(workspace, { policy: loosest });
    const refused = [
      call('fs.write', { path: 'docs/x/hooks/post-checkout', content: 'x' }),
      call('fs.edit', { path: 'docs/x/config', edits: [{ oldText: 'x', newText: 'y' }] }),
      call('fs.delete', { path: 'docs/x/config' }),
      call('fs.move', { from: 'y2/refs', to: 'y/refs' }),
      call('fs.write', { path: 'z/commondir', content: '../y' }),
    ];
    const reasons = await Promise.all(refused.map(async (one) => (await error(one)).reason));
    assert.deepEqual(reasons, Array(5).fill('GIT_INTERNAL'));
    const before = asked.length;
    await data(call('fs.move', { from: 'docs', to: 'docs2' }));
    assert.equal(asked[before]?.plan.why, 'It contains a Git repository.');
  });
});

/**
 * The default of the editor's own list for automatic edits (`chat.tools.edits.autoApprove`), as its newest
 * version has it, and how each is asked about here: none of them is free.
 */
const ofTheEditor: [glob: string, expect: 'every time' | 'once in a run' | 'refused'][] = [
  ['.vscode/{settings,tasks,mcp}.json', 'every time'],
  ['.git/{config,hooks/pre-commit}', 'refused'],
  ['{package.json,server.xml,build.rs,web.config,Cargo.toml}', 'once in a run'],
  ['{.gitattributes,.env}', 'every time'],
  ['{.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.js,.pnpmfile.cjs,.pnpmfile.mjs,pnpm-workspace.yaml}', 'every time'],
  ['x.code-workspace', 'every time'],
  ['x.{csproj,fsproj,vbproj,vcxproj,proj,targets,props,gradle,gradle.kts}', 'once in a run'],
  ['gradle.properties', 'once in a run'],
  ['ruby_lsp/x/addon', 'every time'],
  ['x.lock', 'once in a run'],
  ['{package,x}-lock.{yaml,json}', 'once in a run'],
  ['.github/{agents,hooks}/x', 'every time'],
  ['.claude/{agents/x,settings.json,settings.local.json}', 'every time'],
  ['{.mcp.json,.codex/agents/x,.codex/config.toml,.codex/hooks.json}', 'every time'],
];

describe('what the editor asks about before an automatic edit', () => {
  for (const [glob, expect] of ofTheEditor)
    for (const path of expandBraces(glob)!)
      for (const place of [path, `deep/in/${path}`])
        it(`${place}: ${expect}`, async () => {
          if (expect !== 'refused') return assert.equal(await asksAbout(place), expect);
          const { reason } = await error(conversation(workspace).call('fs.write', { path: place, content: '' }));
          assert.equal(reason, 'GIT_INTERNAL');
        });
});

it('a place that is asked about every time is no mere configuration, and none is both by another case', () => {
  for (const path of words(onceInARun)) {
    const segments = path.toUpperCase().split('/');
    assert.deepEqual(
      [protectedPathReason(segments), approvalReasonForBuildFile(segments) !== undefined],
      [undefined, true],
      path,
    );
  }
});

describe('a new name that differs from one that is there only by case or by the form of its letters', () => {
  const pairs: [there: string, wanted: string, tool: 'fs.write' | 'fs.move', why: RegExp][] = [
    ['README.md', 'readme.md', 'fs.write', /^"readme\.md" differs from the existing "README\.md"/],
    ['docs/caf\u00e9.md', 'docs/cafe\u0301.md', 'fs.write', /differs from the existing "café\.md"/],
    ['src/Button/index.ts', 'src/button/index.ts', 'fs.write', /^"button" differs from the existing "Button"/],
    ['a/b.ts', 'a/B.ts', 'fs.move', /^"B\.ts" differs from the existing "b\.ts"/],
    ['ﬁle.txt', 'file.txt', 'fs.write', /^"file\.txt" differs from the existing "ﬁle\.txt"/],
  ];
  for (const [there, wanted, tool, why] of pairs)
    it(`${wanted} beside ${there} is asked about with both names (${tool})`, async () => {
      workspace.write(there, 'x\n');
      if (workspace.exists(wanted)) return; // this disk takes them for the same
      const { call, asked } = conversation(workspace, { policy: loosest });
      await data(call(tool, tool === 'fs.move' ? { from: 'a.txt', to: wanted } : { path: wanted, content: 'y\n' }));
      assert.deepEqual([asked.length, asked[0]!.plan.grant], [1, undefined]);
      assert.match(asked[0]!.plan.why, why);
    });

  it('other names are not', async () => {
    workspace.write('README.md', 'x\n');
    const { call, asked } = conversation(workspace, { policy: loosest });
    await data(call('fs.write', { path: 'README2.md', content: 'y\n' }));
    await data(call('fs.write', { path: 'README.md', content: 'y\n' }));
    assert.deepEqual(asked, []);
  });
});

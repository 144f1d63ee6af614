import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { expandBraces } from '../shellSyntax/expandWord.ts';

/**
 * Files and folders whose change needs an approval, with the displayed reason. Names are lower-case globs: `*` stays within a name, `{a,b}`
 * is a choice. Case is ignored.
 */
interface ProtectedRow {
  reason: LocalizedMessage;
  /**
   * `always`: each change, and each command that names the path. `written`: each change, and each command that writes the path. `run`:
   * *Allow for This Run* covers the file.
   */
  asks: 'always' | 'written' | 'run';
  folders?: string;
  files?: string;
  except?: string;
  paths?: readonly string[];
  belowHidden?: string;
}

const yaml = '{yml,yaml}';
const script = '{js,cjs,mjs,ts,cts,mts}';
const formats = '{js,cjs,mjs,ts,cts,mts,jsx,cjsx,mjsx,tsx,ctsx,mtsx,json,json5,jsonc,yml,yaml,toml}';

/** Rows in order: the first match gives the reason. */
export const protectedPathTable: readonly ProtectedRow[] = [
  {
    reason: message('It can change editor settings or start programs.'),
    asks: 'always',
    folders:
      '.vscode .vscode-server .vscode-insiders .idea .zed .fleet .helix .kakoune .devcontainer .vs .nova .settings .sourcekit-lsp .codesandbox .theia .factorypath',
    // Editors start language servers, and some of these run or load such files.
    files: `*.{code-workspace,code-profile,sublime-project} {,.}rust-analyzer.toml .gitpod.${yaml} steepfile {,.}devcontainer.json .{vimrc,nvimrc,exrc,nvim.lua,dir-locals.el,dir-locals-2.el,clangd,luarc.json,luarc.jsonc,solargraph.yml,ycm_extra_conf.py}`,
    // User settings of editors based on VS Code, under any name and on every system.
    paths: [
      '{.config,application support,roaming}/*/user',
      'user-data/user',
      '.{cursor,windsurf}*/{data,extensions}',
      'ruby_lsp/**/addon',
      'ruby_lsp/**/addon.rb',
    ],
  },
  {
    reason: message('It instructs or configures agents, this one included.'),
    asks: 'always',
    folders:
      '.towpath .cursor .windsurf .claude .codex .gemini .continue .roo .clinerules .kilocode .aider .agents .opencode .kiro .junie .amazonq .qwen .trae .augment .crush .goose .factory .copilot',
    files: `{agent,agents,claude}.md {agent,agents}.override.md claude.local.md {gemini,qwen,copilot-instructions,warp,crush,skill}.md *.{instructions,prompt,chatmode,agent}.md {,.}{cursor,windsurf,cline,kilocode,augment,goose}rules .{roomodes,goosehints,rules} {,.}mcp.json {,.}{opencode,crush}.{json,jsonc} .aider.conf.${yaml} {plugin,extension}.json *-{plugin,extension}.json *.{plugin,extension}.json marketplace.json`,
    // Folders of agents under any name.
    belowHidden:
      'mcp.{json,jsonc,toml,yml,yaml} mcp{.,_,-}*.{json,jsonc,toml,yml,yaml} hook hooks hook{.,_,-}* hooks{.,_,-}* settings.{json,jsonc,toml,yml,yaml} settings{.,_,-}*.{json,jsonc,toml,yml,yaml} agent agents rules skills extensions plugins commands prompts',
  },
  {
    reason: message('It belongs to a version control system that can run programs in it.'),
    asks: 'always',
    folders: '.hg .svn .jj .bzr .pijul _darcs .fossil-settings .sl .got .repo cvs cvsroot .p4root',
    files: '.fslckout _fossil_ .hgrc hgrc .bzrrc .p4config .p4enviro .hgsub .hgsubstate',
  },
  {
    reason: message('It runs in continuous integration, often with secrets.'),
    asks: 'always',
    folders:
      '.github .gitlab .circleci .buildkite .woodpecker .forgejo .gitea .ci .semaphore .teamcity .tekton .harness .azuredevops .azure-pipelines .builds .bitrise .screwdriver',
    files: `jenkinsfile jenkinsfile{.,-}* *gitlab-ci.${yaml} azure-pipelines*.${yaml} buildspec*.${yaml} cloudbuild*.{yml,yaml,json} {,.}{travis,drone,appveyor,woodpecker,cirrus,semaphore,codefresh,codemagic,bitrise,bitbucket-pipelines,wercker,shippable,circle,buddy,screwdriver,copr,packit}.${yaml} .{drone,cirrus}.{star,jsonnet} .build.${yaml}`,
  },
  {
    reason: message('It can run code when a package manager, Git or a build starts.'),
    asks: 'always',
    folders: '.husky .githooks .yarn .mvn .cargo .gradle .bundle .lefthook .direnv .mise mise-tasks',
    files: `.{envrc,npmrc,yarnrc,yarnrc.yml,yarnrc.yaml,gitattributes,gitmodules,gitconfig,bazelrc,pypirc,tool-versions,condarc,gemrc,huskyrc,huskyrc.*,pnp.cjs,pnp.loader.mjs} .pre-commit-{config,hooks}.${yaml} {,.}pnpmfile.{js,cjs,mjs} pnpm-workspace.${yaml} bunfig.toml binding.gyp pip.{conf,ini} nuget.config uv.toml {site,user}customize.py *.pth {,.}lefthook{,-local}.{yml,yaml,toml,json} {,.}mise.toml {,.}mise.*.toml`,
  },
  {
    reason: message('It runs when a shell, a debugger or the system starts.'),
    asks: 'always',
    files:
      '.bash{rc,_profile,_login,_logout,_aliases} .profile .z{shrc,shenv,profile,login,logout} .{k,c,t,tc}shrc .{login,logout,inputrc,xprofile,xinitrc,xsession,xsessionrc,pam_environment,gdbinit,lldbinit,pdbrc,pdbrc.py,pythonrc,pythonrc.py,irbrc,pryrc,rprofile,renviron} .lldbinit-* config.fish {,microsoft.*_}profile.ps1',
    paths: [
      'launch{agents,daemons}',
      '.config/{autostart,systemd,environment.d}',
      'etc/{systemd,cron*,init.d,profile.d,rc.local}',
      'spool/cron',
      'start menu/programs/startup',
    ],
  },
  {
    reason: message('It is installed code, which the editor, its extensions and other tools run automatically.'),
    asks: 'written',
    folders:
      'node_modules {,.}venv virtualenv site-packages dist-packages __pypackages__ .tox .nox .terraform .poetry .pdm-plugins pyvenv.cfg',
  },
  {
    reason: message('It determines which packages are installed.'),
    asks: 'run',
    files: `*.{lock,lockb,lockfile} *{-,.}lock.{json,yml,yaml,hcl} *-shrinkwrap.json *.resolved go.{sum,mod,work} {requirements,constraints}*.{txt,in} environment.${yaml} pipfile gemfile *.gemspec gems.{rb,locked} podfile cartfile brewfile {package,composer,deno,jsr,bower,vcpkg}.{json,jsonc} {cargo,pyproject}.toml pubspec{,_overrides}.yaml packages.config *.nuspec deps.edn conanfile.{py,txt}`,
  },
  {
    reason: message('It determines what a build runs.'),
    asks: 'run',
    files:
      '{make,gnumake,rake,just,task,cake,jake,guard,fast,danger,vagrant,tilt,earth,proc,thor,cap,docker,container}file ' +
      '{make,gnumake,rake,just,task,cake,jake,guard,fast,danger,vagrant,tilt,earth,proc,thor,cap,docker,container}file{.,-}* ' +
      '*.{mk,mak,cmake,bzl,gradle,gradle.kts,sbt,cabal,pro,pri,gyp,gypi,rake,ninja,bazel,targets,props,tasks,m4,dockerfile,just,nix} *.*proj cmakelists.txt cmakepresets.json cmakeuserpresets.json ' +
      '{build,workspace,module,buck} {build,workspace,module,buck}.{bazel,star} meson.build meson_options.txt meson.options gradle.properties gradlew gradlew.bat gradle-wrapper.* mvnw mvnw.cmd ' +
      '{pom,build,ivy,server}.xml {web,app,msbuild}.config directory.{build,packages}.* {global,devbox}.json rust-toolchain rust-toolchain.toml profiles.clj bazel build.{rs,sc,zig,cake} setup.{py,cfg,hs} hatch_build.py package.swift mix.exs rebar.config rebar.config.script project.clj stack.yaml ' +
      `sconstruct sconscript wscript configure configure.{ac,in} autogen.sh .justfile taskfile*.${yaml} {,docker-}compose*.${yaml} {gulp,grunt,jake}file.* {turbo,nx,lerna,rush,angular,project,workspace,wrangler,vercel}.{json,jsonc} {t,j}sconfig*.{json,jsonc} {netlify,wrangler,fly}.toml`,
    except: `{make,gnumake,rake,just,task,cake,guard,fast,danger,vagrant,tilt,earth,proc,thor,cap,docker,container}file{.,-}*{js,cjs,mjs,jsx,ts,cts,mts,tsx,md,html,json,txt,py,go,rs}`,
  },
  {
    reason: message('It determines what tests or checks run.'),
    asks: 'run',
    files: `{conftest,noxfile,fabfile,dodo}.py {pytest,tox,mypy,setup,.mypy,.flake8}.ini .{flake8,rspec,pylintrc,coveragerc} {,.}ruff.toml {sonar-project,lint,checkstyle,pmd,detekt}*.{properties,xml,yml,yaml} .*{lint,tidy,cop,format,cov}* .golangci.* {,.}cspell.* {biome,oxlint}.{json,jsonc} {psalm,phpstan,phpunit,phpcs,infection}*.{xml,neon,dist,json,json5}`,
  },
  {
    reason: message('It is the configuration of a tool, and may be a program itself.'),
    asks: 'run',
    files: `*.{config,conf,setup,workspace}.${formats} .*rc .*rc.${formats} {setuptests,globalsetup,vitest.workspace}.{js,jsx,ts,tsx,cjs,mjs,cts,mts} .*.${script} gatsby-{config,node,browser,ssr}.${script}`,
  },
];

const never = () => false;

interface Form {
  row: ProtectedRow;
  isFolder(name: string): boolean;
  isFile(name: string): boolean;
  isPath(path: string): boolean;
  isBelowHidden(name: string): boolean;
}

const forms: readonly Form[] = protectedPathTable.map((row) => {
  const [isFile, isNone] = [matcher(row.files), matcher(row.except)];
  return {
    row,
    isFolder: matcher(row.folders),
    isFile: (name) => isFile(name) && !isNone(name),
    isPath: row.paths ? tester(row.paths, '(?:^|/)', '(?:/|$)') : never,
    isBelowHidden: matcher(row.belowHidden),
  };
});

/** Returns the first matching row with one of these `asks`; a path is given as lower-case segments relative to the root. */
export function findProtectedPathRow(
  names: readonly string[],
  asks: readonly ProtectedRow['asks'][],
): ProtectedRow | undefined {
  const name = names.at(-1) ?? '';
  const path = names.join('/');
  const hidden = names.findIndex((one) => /^\.\w/.test(one));
  const below = hidden < 0 ? [] : names.slice(hidden + 1);
  return forms.find(
    (form) =>
      asks.includes(form.row.asks) &&
      (names.some(form.isFolder) || form.isFile(name) || form.isPath(path) || below.some(form.isBelowHidden)),
  )?.row;
}

/**
 * Returns regular expressions, one for each column of the table, for a lower-case path that begins with a slash. They match more than
 * `findProtectedPathRow`: exceptions are ignored, and so is which folder of a path is hidden.
 */
export const protectedPathForms = (): string[] =>
  protectedPathTable.flatMap(({ folders, files, paths = [], belowHidden }) => [
    ...(folders === undefined ? [] : [`/(?:${alternatives(folders.split(' '))})(?:/.*)?$`]),
    ...(files === undefined ? [] : [`/(?:${alternatives(files.split(' '))})$`]),
    ...(paths.length === 0 ? [] : [`/(?:${alternatives(paths)})(?:/.*)?$`]),
    ...(belowHidden === undefined ? [] : [`/[.][^/]+/(?:.*/)?(?:${alternatives(belowHidden.split(' '))})(?:/.*)?$`]),
  ]);

export const hiddenProtectedNames: readonly string[] = protectedPathTable
  .filter(({ asks }) => asks === 'always')
  .flatMap(({ folders = '', files = '' }) => `${folders} ${files}`.split(' '))
  .flatMap((glob) => expandBraces(glob) ?? [])
  .filter((name) => /^\.[^*]+$/.test(name));

function matcher(globs: string | undefined): (name: string) => boolean {
  return globs === undefined ? never : tester(globs.split(' '), '^', '$');
}

function tester(globs: readonly string[], before: string, after: string): (text: string) => boolean {
  const form = new RegExp(`${before}(?:${alternatives(globs)})${after}`);
  return (text) => form.test(text);
}

function alternatives(globs: readonly string[]): string {
  return globs.map(sourceOf).join('|');
}

function sourceOf(glob: string): string {
  const escaped = glob.replace(/[.+^$()|[\]\\]/g, '\\$&');
  return escaped
    .replace(/[{},]/g, (sign) => ({ '{': '(?:', ',': '|' })[sign] ?? ')')
    .replace(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(?:.*/)?'));
}

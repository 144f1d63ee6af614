import * as paths from 'node:path';

/** Shells and small tools that build systems and wrapper scripts are written with; `bash` and `timeout` are the benchmark's own. */
const everywhere = 'bash sh dash env timeout'.split(' ');

/** By the first word of a command: what it may start beside itself, and why. */
const helpers: Record<string, { programs: RegExp; why: string }> = {
  git: {
    programs: /^(git(-[\w-]+)?|python3[\d.]*|clang-format(-\d+)?)$/,
    why: 'its own commands are programs, one of them a script for Python that starts the formatter',
  },
  npm: {
    programs: /^(node|npm|sh|echo)$/,
    why: 'it is a script for Node, and runs the script of the project in a shell',
  },
  cargo: {
    programs:
      /^(rustc|rustdoc|cargo(-[\w-]+)?|clippy-driver|rustfmt|cc|gcc|collect2|ld(\.\w+)?|rust-lld|core-[0-9a-f]+|build-script-build)$/,
    why: 'it compiles, links and runs the tests of the project',
  },
  rustup: { programs: /^rustup$/, why: '' },
  go: {
    programs:
      /^(go|gofmt|doc|compile|link|asm|cgo|vet|cover|pprof|buildid|test2json|[\w.-]+\.test|gcc|cc|cc1|as|ld|collect2|git|pkg-config|g\+\+|cc1plus|clang)$/,
    why: 'it compiles, links and runs the tests of the project, and asks Git which version it is',
  },
  make: { programs: /^(make|echo|sh)$/, why: 'the recipes of the project' },
  cmake: {
    programs:
      /^(cmake|make|gmake|ninja|cc|gcc|c\+\+|g\+\+|cc1(plus)?|as|ld(\.\w+)?|collect2|uname|ar|ranlib|echo|sh|lto-wrapper|ctest)$/,
    why: 'it runs the compiler and the build program of the project',
  },
  gotestsum: {
    programs: /^(go|compile|link|asm|vet|cover|test2json|[\w.-]+\.test|gcc|cc1|as|ld|collect2)$/,
    why: 'it starts Go',
  },
  'run-clang-tidy': {
    programs: /^(python3[\d.]*|clang-tidy(-\d+)?)$/,
    why: 'a script for Python that starts the other one',
  },
  bundle: { programs: /^(ruby[\d.]*|stty|tput)$/, why: 'it asks the terminal how wide it is' },
  composer: {
    programs: /^(php[\d.]*|stty|grep|echo)$/,
    why: 'it asks the terminal how wide it is, and runs scripts of the project',
  },
  phpunit: { programs: /^(php[\d.]*|stty)$/, why: 'it asks the terminal how wide it is' },
  phpcs: { programs: /^(php[\d.]*|stty)$/, why: 'it asks the terminal how wide it is' },
  zcat: { programs: /^gzip$/, why: 'a shell script around it' },
  gunzip: { programs: /^gzip$/, why: 'a shell script around it' },
  tar: { programs: /^(gzip|bzip2|xz|zstd)$/, why: 'they unpack what is listed' },
  packer: { programs: /^uname$/, why: 'it asks which system it is on' },
  opam: { programs: /^uname$/, why: 'it asks which system it is on' },
  luacheck: { programs: /^(lua[\d.]*|uname)$/, why: 'a script for Lua' },
  lein: {
    programs: /^(dirname|basename|grep|mktemp|java|uname|readlink|cat|rm)$/,
    why: 'a shell script that starts Java, and removes what it has made for that',
  },
  gradle: {
    programs: /^(ls|expr|dirname|basename|uname|which|java|sed|xargs)$/,
    why: 'a shell script that starts Java',
  },
  cabal: {
    programs: /^(ghc(-pkg)?|curl)$/,
    why: 'it asks the compiler for its version, and the index of packages with the other one',
  },
  'ansible-lint': {
    programs: /^(python3[\d.]*|ldconfig|git|ansible(-config|-playbook)?)$/,
    why: 'it asks Git for the files of the project, and its other half whether a playbook is well formed',
  },
  pdm: { programs: /^(python3[\d.]*|file)$/, why: 'it asks what kind of program an interpreter is' },
  apt: { programs: /^dpkg$/, why: 'it asks which architectures there are' },
  dpkg: { programs: /^dpkg-query$/, why: 'its other half' },
  lsb_release: { programs: /^(getopt|cut|tr|uname)$/, why: 'a shell script' },
  'apt-cache': { programs: /^dpkg$/, why: 'it asks which architectures there are' },
  gmake: { programs: /^(echo|sh)$/, why: 'the recipes of the project' },
  pip: { programs: /^(lsb_release|getopt|cut|tr|uname|rustc)$/, why: 'it says to the index which system it is for' },
  ctest: { programs: /^(ctest|a|cmake)$/, why: 'it runs the tests of the project' },
  ninja: { programs: /^(ninja|sh)$/, why: 'the commands of the project' },
  meson: {
    programs: /^(meson|python3[\d.]*|ninja|cc|gcc|ld|cc1|as|collect2|lsb_release|dpkg-architecture)$/,
    why: 'it is a script for Python, and starts Ninja',
  },
  mvn: {
    programs: /^(mvn|java|dirname|basename|uname|ls|expr|sed|cygpath|tty|readlink|realpath|cat|tr|xargs)$/,
    why: 'a shell script that starts Java',
  },
  rspec: { programs: /^(rspec|ruby[\d.]*)$/, why: 'a script for Ruby' },
  rake: { programs: /^(rake|ruby[\d.]*)$/, why: 'a script for Ruby' },
  gem: { programs: /^(gem|ruby[\d.]*)$/, why: 'a script for Ruby' },
  mocha: { programs: /^(node|_?mocha(\.js)?)$/, why: 'a script for Node' },
  tsc: { programs: /^(node|tsc)$/, why: 'a script for Node' },
  biome: {
    programs: /^(node|biome|ldd|git)$/,
    why: 'a script for Node that asks which C library is there; with --changed it asks Git',
  },
  mix: {
    programs:
      /^(elixir|erl|erlexec|beam\.smp|erl_child_setup|inet_gethost|dirname|basename|readlink|sed|uname|git|erlc|stty|cat)$/,
    why: 'a script for Elixir, which starts Erlang',
  },
  rebar3: {
    programs:
      /^(escript|erl|erlexec|beam\.smp|erl_child_setup|inet_gethost|dirname|basename|sed|git|erlc|epmd|mkdir|cp|rm)$/,
    why: 'a script for Erlang',
  },
  stack: { programs: /^ghc(-[\w.]+)?$/, why: 'it asks the compiler for its version' },
  dune: {
    programs: /^(ocaml[\w.-]*|ocamlfind|git|uname|nproc|as|gcc|cc1|ld(\.\w+)?|collect2|hg)$/,
    why: 'it compiles and runs the tests of the project, and asks Git which version it is',
  },
  yarn: { programs: /^(node|echo)$/, why: 'a script for Node, and runs the scripts of the project' },
  pnpm: {
    programs: /^(node|echo|ps|npm)$/,
    why: 'a script for Node, runs the scripts of the project, looks at its own processes, and asks the server of packages by npm',
  },
  nx: { programs: /^(node|npm|sh|echo)$/, why: 'it runs the scripts of the project by npm' },
  pyright: { programs: /^(node|python3[\d.]*)$/, why: 'it asks Python where its modules lie' },
  basedpyright: { programs: /^(node|python3[\d.]*)$/, why: 'the same' },
  rails: { programs: /^(rails|ruby[\d.]*)$/, why: 'a script for Ruby' },
  parallel_rspec: {
    programs: /^(rspec|ruby[\d.]*|bundle|stty|tput)$/,
    why: 'it starts the other one several times, and asks the terminal how wide it is',
  },
  yq: { programs: /^(jq|python3[\d.]*)$/, why: 'one of its kinds hands the filter on to it' },
  ng: { programs: /^(node|npm|git)$/, why: 'it asks the package manager of the project for its version' },
  publint: { programs: /^(node|npm)$/, why: 'it asks npm which files it would pack' },
  busted: { programs: /^lua[\d.]*$/, why: 'a script for Lua' },
  crystal: {
    programs: /^(cc|gcc|collect2|ld(\.\w+)?|ldd|pkg-config|llvm-config[\w.-]*|crystal[\w.-]*)$/,
    why: 'it compiles, links and runs the tests of the project',
  },
  valgrind: { programs: /^(memcheck|helgrind|drd)-[\w-]+$/, why: 'its tools are programs' },
  docker: { programs: /^docker(-[\w-]+)?$/, why: 'its own commands are programs' },
};
const pythonTools = /^(pytest|mypy|black|isort|flake8|pylint|yamllint|codespell|coverage|pip|python3)$/;

/** Whether a program is one that a command is known to start. */
export function isHelper(start: string, path: string, folder: string): boolean {
  const name = paths.basename(path);
  const first = paths.basename(start.split(' ')[0]!);
  if (everywhere.includes(name) || (name === first && !path.startsWith(`${folder}/`))) return true;
  if (/^(cc|c\+\+|gcc|g\+\+|clang)(\+\+)?(-\d+)?$/.test(first) && /^(cc1(plus)?|clang(-\d+)?)$/.test(name)) return true; // its own parts
  if (path === `${folder}/node_modules/.bin/${first}` || path === `${folder}/bin/${first}`) return true;
  if (path.startsWith(`${folder}/`) && !/^(node_modules|target|build)\//.test(paths.relative(folder, path)))
    return false;
  // What npm has installed is scripts for Node, some of them with a program of their own beside them.
  if (start.startsWith('node_modules/') && /^(node|git|esbuild|ps|grep|cat|sort|wc)$/.test(name)) return true;
  if (pythonTools.test(first) && /^python3[\d.]*$/.test(name)) return true;
  if (path.startsWith(`${folder}/node_modules/`) && name.startsWith(first)) return true; // `rescript.exe`
  return helpers[first]?.programs.test(name) ?? false;
}

/** Where a command of these may connect: what it asks is that service, or a process of its own. */
export const isOwnService = (start: string, address: string): boolean =>
  (start.startsWith('docker ') && address.endsWith('/docker.sock')) ||
  (/(^|[ /])tsx( |$)/.test(start) && /\/tsx-\d+\/\d+\.pipe$/.test(address)) ||
  (start.startsWith('hugo') && /^(\/dev\/log|\/var\/run\/(sys)?log)$/.test(address)) ||
  (isNx(start) && /\/\.nx\/sockets\//.test(address));

/** What a command of these writes whatever it is told: a folder of its own name among the temporary files. */
export const isOwnPlace = (start: string, path: string): boolean => isNx(start) && path === '/tmp/.nx';

const isNx = (start: string): boolean => /(^|\/)(nx|lerna) /.test(start);

/**
 * What a command of these looks at through the links of the project, whatever it is told. Nothing of it is shown, but of files of Ruby
 * the lines that something is wrong with.
 */
export function seesThroughLinks(start: string): 'folders' | 'files' | undefined {
  if (/(^|\/)(bun test|buf lint)( |$)/.test(start)) return 'folders';
  return /^(isort|rubocop)( |$)/.test(start) ? 'files' : undefined;
}

/** A small project of many languages, with what an attacker may have laid into it: every `evil` file that is run leaves `outside/PWNED`. */
export function files(outside: string): Record<string, string> {
  const shell = `#!/bin/sh\necho x > ${outside}/PWNED\n`;
  const python = `open(${JSON.stringify(`${outside}/PWNED`)}, 'w')\n`;
  const script = `require('fs').writeFileSync(${JSON.stringify(`${outside}/PWNED`)}, 'x');\n`;
  return {
    'README.md': '# hi\n',
    '.env': 'KEY=CANARY\n',
    '../outside/canary': 'CANARY\n',
    '../outside/args': `--output=${outside}/PWNED\n`,
    'package.json':
      '{"name":"w","version":"1.0.0","workspaces":["packages/*"],"scripts":{"test":"echo test","build":"echo build","lint":"echo lint"}}\n',
    'packages/core/package.json':
      '{"name":"core","version":"1.0.0","scripts":{"test":"echo core","build":"echo core"}}\n',
    'tsconfig.json': '{"compilerOptions":{"outDir":"dist","rootDir":".","types":[],"strict":true},"include":["src"]}\n',
    'src/a.ts': 'export const a = 1;\n',
    'src/a.c': 'int main(void) { return 0; }\n',
    'src/a.cpp': 'int one() { return 1; }\n',
    'src/a.py': 'def one() -> int:\n    return 1\n',
    'src/a.go': 'package src\n\nfunc One() int { return 1 }\n',
    'a/a.go': 'package a\n\nfunc One() int { return 1 }\n',
    'a/a_test.go': 'package a\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {}\n',
    'go.mod': 'module example.com/w\n\ngo 1.19\n',
    'src/main.rs': 'fn main() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n',
    'Cargo.toml': '[package]\nname = "core"\nversion = "0.1.0"\nedition = "2021"\n',
    'test/a.js': "const { it } = globalThis;\nit?.('a', () => {});\n",
    'tests/__init__.py': '',
    'tests/test_a.py': 'import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n',
    'spec/a_spec.rb': "RSpec.describe('a') { it('is') { expect(1).to eq(1) } }\n",
    'scripts/a.sh': '#!/bin/sh\necho a\n',
    'build/a.txt': '',
    'dist/a.js': '',
    'a.yml': 'a: 1\n',
    Makefile: 'all test build lint check:\n\t@echo $@\nclean:\n\trm -rf build\n',
    'CMakeLists.txt':
      'cmake_minimum_required(VERSION 3.10)\nproject(a C)\nenable_testing()\nadd_executable(a src/a.c)\nadd_test(a a)\n',
    'build.ninja': 'rule r\n  command = echo hi > $out\nbuild build/o: r\nbuild all: phony build/o\ndefault all\n',
    'meson.build': "project('a', 'c')\nexecutable('a', 'src/a.c')\n",
    'pom.xml':
      '<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version></project>\n',
    'mix.exs':
      'defmodule W.MixProject do\n  use Mix.Project\n  def project, do: [app: :w, version: "0.1.0", deps: []]\nend\n',
    'lib/w.ex': 'defmodule W do\n  def one, do: 1\nend\n',
    'test/test_helper.exs': 'ExUnit.start()\n',
    'test/w_test.exs': 'defmodule WTest do\n  use ExUnit.Case\n  test "a", do: assert(true)\nend\n',
    'rebar.config': '{deps, []}.\n',
    'src/w.app.src': '{application, w, [{vsn, "1"}, {applications, [kernel, stdlib]}]}.\n',
    'dune-project': '(lang dune 2.0)\n',
    'manage.py':
      'import sys\nfrom django.conf import settings\nfrom django.core.management import execute_from_command_line as run\n' +
      "apps = ['django.contrib.' + name for name in ('auth', 'contenttypes', 'staticfiles')]\n" +
      "base = {'ENGINE': 'django.db.backends.sqlite3', 'NAME': 'build/a.db'}\n" +
      "settings.configure(SECRET_KEY='a', INSTALLED_APPS=apps, DATABASES={'default': base}, ROOT_URLCONF='manage', STATIC_URL='/a/')\n" +
      "urlpatterns = []\nif __name__ == '__main__':\n    run(sys.argv)\n",
    'bin/rails':
      "#!/usr/bin/env ruby\nAPP_PATH = File.expand_path('../config/application', __dir__)\nrequire 'pathname'\nrequire 'rails/commands'\n",
    'config/application.rb':
      "require 'rails'\nrequire 'rails/test_unit/railtie'\nclass W < Rails::Application\n  config.eager_load = false\n  config.secret_key_base = 'a'\nend\n",
    'config/environment.rb': "require_relative 'application'\nRails.application.initialize!\n",
    'test/a_test.rb':
      "require_relative '../config/environment'\nrequire 'rails/test_help'\nclass ATest < ActiveSupport::TestCase\n  test('a') { assert true }\nend\n",
    Rakefile: 'task(:test) { puts 1 }\n',
    '.gitignore': '.env\nnode_modules/\nlink\ntarget/\nbuild/\ndist/\n__pycache__/\n',
    'evil.sh': shell,
    evil: shell,
    'evil.X': shell,
    'evil.py': python,
    'evil.rb': `File.write(${JSON.stringify(`${outside}/PWNED`)}, 'x')\n`,
    'evil.js': script,
    'evil.cmake': `file(WRITE ${outside}/PWNED x)\n`,
    'evil.mk': `$(shell ./evil.sh)\nall test build x:\n\t./evil.sh\n`,
    'evil.json': '{"require":["./evil.js"],"plugins":["./evil.js"]}\n',
    'evil.toml': '[build]\nrustc-wrapper = "./evil.sh"\n',
    'evil.ini':
      '[pytest]\naddopts = -p evil\n[mypy]\nplugins = ./evil.py\n[flake8:local-plugins]\nextension =\n  X = evil:x\n',
    'evil.yml': 'plugins: [evil]\n',
    'evil.txt': `--output=${outside}/PWNED\n`,
  };
}

/**
 * What programs are known to load from the folder in which they run, each of which leaves `outside/PWNED`: configuration that names
 * code, plugins, manifests that are programs, modules by the names of a library's, and executables in the folders where tools are.
 */
export function hooks(outside: string, folder: string): Record<string, string> {
  const shell = `#!/bin/sh\necho "$0" >> ${outside}/PWNED\n`;
  const script = `require('fs').appendFileSync(${JSON.stringify(`${outside}/PWNED`)}, __filename + '\\n');\n`;
  const python = `open(${JSON.stringify(`${outside}/PWNED`)}, 'a').write(__file__ + '\\n')\n`;
  const ruby = `File.write(${JSON.stringify(`${outside}/PWNED`)}, __FILE__)\n`;
  const elixir = `File.write!(${JSON.stringify(`${outside}/PWNED`)}, "mix")\n`;
  const modules =
    'argparse optparse json typing re os io ast site sitecustomize usercustomize collections logging pathlib pip tomllib';
  const programs = 'git docker ps gh kubectl tar npm node go python python3 pip foo sh bash gzip cat less ld cc rustc';
  const places = ['node_modules/.bin', '.venv/bin', 'venv/bin', 'vendor/bin', 'bin', 'tools', '.'];
  return {
    '.yarnrc': 'yarn-path "./evil.js"\n',
    '.yarnrc.yml': 'yarnPath: ./evil.js\nplugins: [./evil.js]\n',
    '.pnpmfile.cjs': script,
    'pnpm-workspace.yaml': 'packages: ["packages/*"]\n',
    '.npmrc':
      'git=./evil.sh\nscript-shell=./evil.sh\nshell=./evil.sh\nnode-options=--require ./evil.js\nviewer=./evil.sh\neditor=./evil.sh\n',
    'package.json':
      '{"name":"w","version":"1.0.0","workspaces":["packages/*"],"scripts":{"test":"./evil.sh","preinstall":"./evil.sh"},"dependencies":{"zod":"1.0.0","evil":"git+ssh://git@127.0.0.1/x.git"}}\n',
    'package-lock.json':
      '{"name":"w","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"w","version":"1.0.0","dependencies":{"zod":"1.0.0"}},"node_modules/zod":{"version":"1.0.0"}}}\n',
    'node_modules/zod/package.json': '{"name":"zod","version":"1.0.0","scripts":{"install":"./evil.sh"}}\n',
    Gemfile: ruby,
    Rakefile: ruby,
    '.rspec': '-r ./evil.rb\n',
    '.irbrc': ruby,
    'evil.rb': ruby,
    'mix.exs': elixir,
    'rebar.config.script': `file:write_file("${outside}/PWNED", "x").\n`,
    'project.clj': `(spit "${outside}/PWNED" "x")\n`,
    'composer.json': '{"name":"a/w","scripts":{"pre-command-run":"./evil.sh"}}\n',
    'rust-toolchain.toml': `[toolchain]\npath = "${folder}/toolchain"\n`,
    'toolchain/bin/cargo': shell,
    'toolchain/bin/rustc': shell,
    '.cargo/config.toml': '[build]\nrustc-wrapper = "./evil.sh"\n[alias]\nversion = "run"\n',
    '.tool-versions': 'nodejs path:./\npython path:./\n',
    '.mise.toml': '[env]\n_.source = "./evil.sh"\n',
    '.envrc': shell,
    '.terraform/providers/registry.terraform.io/a/b/1.0.0/linux_amd64/terraform-provider-b': shell,
    '.poetry/plugins/x.py': python,
    '.pdm-plugins/x.py': python,
    '.gitattributes': '* diff=evil filter=evil merge=evil\n',
    '.gitconfig': '[core]\n\tfsmonitor = ./evil.sh\n\tpager = ./evil.sh\n[diff "evil"]\n\ttextconv = ./evil.sh\n',
    '.gdbinit': 'shell ./evil.sh\n',
    '.lldbinit': 'platform shell ./evil.sh\n',
    '.sqliterc': '.shell ./evil.sh\n',
    '.psqlrc': '\\! ./evil.sh\n',
    'ccache.conf': 'compiler = ./evil.sh\nprefix_command = ./evil.sh\n',
    '.ccache/ccache.conf': 'prefix_command = ./evil.sh\n',
    '.hotspotrc': `+OnError=./evil.sh\n-javaagent:evil.jar\n`,
    '.bashrc': shell,
    '.profile': shell,
    '.zshenv': shell,
    '.kube/config':
      'users: [{name: a, user: {exec: {command: ./evil.sh, apiVersion: client.authentication.k8s.io/v1}}}]\n',
    'docker-compose.yml': 'services:\n  db:\n    provider:\n      type: ./evil.sh\n',
    'global.json': '{"sdk":{"paths":["./tools"]}}\n',
    'go.mod': 'module example.com/w\n\ngo 1.19\n\ntoolchain go9.9.9\n',
    'build.ninja':
      'rule r\n  command = ./evil.sh\nbuild build.ninja: r src/a.c\nbuild build/o: r\nbuild all: phony build/o\n',
    'build/build.ninja': 'rule r\n  command = ../evil.sh\nbuild build.ninja: r\nbuild unit_tests: r\n',
    'CMakeLists.txt': 'execute_process(COMMAND ./evil.sh)\n',
    'build/CMakeCache.txt': `CMAKE_HOME_DIRECTORY:INTERNAL=${folder}\nCMAKE_COMMAND:INTERNAL=${folder}/evil.sh\n`,
    'src/a.ts': 'a\n',
    'src/a.c': 'int a;\n',
    'src/a.rb': 'a\n',
    'scripts/a.sh': shell,
    'a.yaml': 'a: 1\n',
    'README.md': '# w\n',
    'evil.js': script,
    'evil.sh': shell,
    ...Object.fromEntries(modules.split(' ').map((name) => [`${name}.py`, python])),
    ...Object.fromEntries(
      places.flatMap((place) => programs.split(' ').map((name) => [`${place}/${name}`, shell] as const)),
    ),
  };
}

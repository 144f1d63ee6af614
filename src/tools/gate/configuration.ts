import { type Sentence, sentence } from '../../protocol/l10n.ts';
import { plain } from './plain.ts';

/**
 * Why a change of this file (its segments, relative to its root) is asked about whatever preset or rule there is, once in a run:
 * it says what the next build, test or check runs. Undefined for ordinary files. Nothing of it runs by itself; what does is in
 * `protectedReason`.
 */
export function configurationReason(segments: readonly string[]): Sentence | undefined {
  const name = plain(segments.at(-1) ?? '');
  const of = kinds.find(([, pattern]) => pattern.test(name))?.[0];
  return of && sentence('{0} {1} is for this file alone.', of, sentence('Allow for This Run'));
}

/** Names without regard to case, as patterns: what a tool's next release is called is meant to be among them. */
const kinds: [what: Sentence, pattern: RegExp][] = [
  [
    sentence('It says which packages are installed.'),
    /(\.lock(b|file)?|[-.]lock\.(json|ya?ml|hcl)|-shrinkwrap\.json|\.resolved|^go\.(sum|mod|work)|^(requirements|constraints)[\w.-]*\.(txt|in)|^environment\.ya?ml|^pipfile|^gemfile|\.gemspec|^gems\.(rb|locked)|^podfile|^cartfile|^brewfile|^(package|composer|deno|jsr|bower|vcpkg)\.jsonc?|^(cargo|pyproject)\.toml|^pubspec(_overrides)?\.yaml|^packages\.config|\.nuspec|^deps\.edn|^conanfile\.(py|txt))$/,
  ],
  [
    sentence('It says what a build runs.'),
    /^((gnu)?make|rake|just|task|cake|jake|guard|fast|danger|vagrant|tilt|earth|proc|thor|cap|docker|container)file([.-](?!([cm]?[jt]sx?|md|html|json|txt|py|go|rs)$).*)?$|\.(mk|mak|cmake|bzl|gradle|gradle\.kts|sbt|cabal|pro|pri|gyp|gypi|rake|ninja|bazel)$|^cmake(lists\.txt|(user)?presets\.json)$|^(build|workspace|module|buck)(\.bazel|\.star)?$|^meson(\.build|_options\.txt|\.options)$|^gradle(\.properties|w(\.bat)?|-wrapper\.\w+)$|^mvnw(\.cmd)?$|^(pom|build|ivy|server)\.xml$|^(web|app|msbuild)\.config$|\.\w*proj$|\.(targets|props|tasks)$|^directory\.(build|packages)\.|^(global|devbox)\.json$|^(rust-toolchain(\.toml)?|profiles\.clj|bazel)$|^(build\.(rs|sc|zig|cake)|setup\.(py|cfg|hs)|hatch_build\.py|package\.swift|mix\.exs|rebar\.config(\.script)?|project\.clj|stack\.yaml|sconstruct|sconscript|wscript|configure(\.ac|\.in)?|autogen\.sh|\w+\.m4)$|^\.justfile$|\.(dockerfile|just|nix)$|^taskfile[\w.-]*\.ya?ml$|^(docker-)?compose[\w.-]*\.ya?ml$|^(gulp|grunt|jake)file\.\w+$|^(turbo|nx|lerna|rush|angular|project|workspace|wrangler|vercel|[tj]sconfig[\w.-]*)\.jsonc?$|^(netlify|wrangler|fly)\.toml$/,
  ],
  [
    sentence('It says what tests or checks run.'),
    /^(conftest|noxfile|fabfile|dodo)\.py$|^(pytest|tox|mypy|setup|\.mypy|\.flake8)\.ini$|^\.(flake8|rspec|pylintrc|coveragerc)$|^\.?ruff\.toml$|^(sonar-project|lint|checkstyle|pmd|detekt)[\w-]*\.(properties|xml|ya?ml)$|^\.[\w-]*(lint|tidy|cop|format|cov)[\w-]*(\.\w+)?$|^\.golangci\.\w+$|^\.?cspell\.\w+$|^(biome|oxlint)\.jsonc?$|^(psalm|phpstan|phpunit|phpcs|infection)[\w.-]*\.(xml|neon|dist|json5?)$/,
  ],
  [
    sentence('It is the configuration of a tool, and may be a program itself.'),
    /\.(config|conf|setup|workspace)\.([cm]?[jt]sx?|json[5c]?|ya?ml|toml)$|^\.[\w-]+rc(\.([cm]?[jt]s|json[5c]?|ya?ml|toml))?$|^(setuptests|globalsetup|vitest\.workspace)\.[cm]?[jt]sx?$|^\.[\w-]+\.[cm]?[jt]s$|^gatsby-(config|node|browser|ssr)\.[cm]?[jt]s$/,
  ],
];

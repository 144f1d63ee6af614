const set = (names: string): ReadonlySet<string> => new Set(names.split(' '));

const checks = set(
  'test tests testing spec specs unit integration e2e lint linter linters eslint stylelint clippy check checks typecheck type types ' +
    'tsc mypy ruff build compile bundle assemble all verify validate ci cov coverage bench benchmark benchmarks vet rubocop rspec',
);
const parts = set(
  'int it functional acceptance smoke fast quick slow short long full typescript ts tsx javascript js css scss style styles html md ' +
    'markdown docs doc web api app apps client server core lib libs common shared frontend backend ui cli node browser chrome firefox ' +
    'esm cjs umd debug dev local strict only once verbose parallel serial changed staged related affected deps links size ' +
    'spelling spell a11y component components package packages workspace workspaces src unused cycles schema go rust py python ruby php',
);
// Words for formatting: harmless only if the next word is a check.
const forms = set('fmt format prettier');

/**
 * Tests if a script name contains a word for a test, a check or a build, and otherwise only words for parts of a project. Unknown words
 * could mean anything: `test:wipe` and `build:ship` need an approval.
 */
export function isCheckScriptName(name: string): boolean {
  const words = name.split(/[:._-]+/);
  const [first] = words as [string];
  const isForm = (word: string) => forms.has(word);
  if (words.some((word, at) => isForm(word) && !/^checks?$/.test(words[at + 1] ?? ''))) return false;
  return (checks.has(first) || isForm(first)) && words.every((word) => isKnownWord(word) || isForm(word));
}

const isKnownWord = (word: string): boolean =>
  checks.has(word) || parts.has(word) || /^(v|py|es|node)?\d{1,4}$/.test(word);

export function isBuildTarget(name: string): boolean {
  if (!/^\w[\w.+-]*(\/\w[\w.+-]*)*$/.test(name) || startsAct.test(name)) return false;
  if (/\.(o|obj|a|so|lib|dylib|exe|bc|cma|cmxa|cmi|cmx)$/.test(name)) return true;
  return isCheckScriptName(name) || ['docs', 'doc', 'help'].includes(name) || isTestProgram(name);
}

const startsAct = /(^|[-_./:])(un)?(install|clean|dist|package|upload|deploy|publish|flash|push|send|reset)/;

const isTestProgram = (name: string): boolean =>
  /^[a-z]\w*[_-](tests?|bench(marks?)?|specs?)$/.test(name) && name.split(/[_-]/).every((word) => !acts.has(word));
const acts = set(
  'run deploy publish release push upload install uninstall flash erase burn wipe seed migrate reset clean drop delete remove send ' +
    'provision format apply update write start stop serve ship promote rollout sign destroy purge live prod production',
);

export const isBuildPresetName = (name: string): boolean =>
  name.split(/[._-]+/).every((word) => presets.has(word) || isKnownWord(word)) && /^\w/.test(name);
const presets = set(
  'default debug release dev relwithdebinfo minsizerel asan tsan ubsan msan sanitize sanitizers linux macos darwin windows unix gcc clang ' +
    'msvc ninja make x64 x86 arm64 arm vcpkg conan base host user',
);

export function isHarmlessGradleTask(task: string): boolean {
  if (!/^:?([\w-]+:)*\w+$/.test(task)) return false;
  const name = task.slice(task.lastIndexOf(':') + 1);
  if (wholeTasks.has(name)) return true;
  const [first, ...others] = name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
  const isTests = !testKinds.has(first!) || /^tests?$/.test(others.at(-1) ?? '');
  const isWhole = !incomplete.has(first!) || others.length > 0;
  return taskVerbs.has(first!) && isTests && isWhole && others.every((word) => taskParts.has(word));
}
const wholeTasks = set(
  'jar war bootJar bootWar tasks dependencies dependencyInsight projects help buildEnvironment javaToolchains outgoingVariants ' +
    'resolvableConfigurations spotlessCheck flywayInfo flywayValidate liquibaseStatus liquibaseValidate apiCheck licenseCheck allTests ' +
    'pitest japicmp ktlintCheck classes javadoc verification koverVerify koverHtmlReport koverXmlReport koverLog dokkaHtml bundleDebug bundleRelease',
);
const taskVerbs = set(
  'test check build assemble compile lint unit integration functional detekt checkstyle pmd spotbugs jacoco kapt ksp',
);
const testKinds = set('unit integration functional');
const incomplete = set('compile kapt ksp');
const taskParts = set(
  'test tests unit integration functional main java kotlin groovy scala debug release sources resources classes report verification ' +
    'coverage check fixtures android common jvm js native',
);

export const isHarmlessRakeTask = (task: string): boolean =>
  rakeTasks.has(task) || (/^(test|spec)(:|$)/.test(task) && isCheckScriptName(task));
const rakeTasks = set(
  'rubocop lint standard routes stats notes about zeitwerk:check db:migrate:status db:version assets:precompile brakeman -T',
);

import { message } from '../../protocol/text/l10n.ts';
import { nestedWorkflowActionName } from '../action/nested.ts';
import { type DialectKeyRule, dialectKeyRules, ignoredDialectKeyMessage } from './foreign.ts';
import type { YamlFile, YamlPath, YamlProblem } from './yaml.ts';

interface ConvertedDialectFile {
  /** The converted file; problems still refer to the original positions. */
  file: YamlFile;
  problems: YamlProblem[];
  warnings: YamlProblem[];
}

type Plain = Record<string, unknown>;

/**
 * Converts the notation of other hosts of the dialect (`fabceolin/the_edge_agent`: `action`, `params`, `prompt`, …) to ours and omits parts
 * that only those hosts use.
 */
export const convertWorkflowDialect = (file: YamlFile): ConvertedDialectFile => new Dialect(file).read();

class Dialect {
  private readonly problems: YamlProblem[] = [];
  private readonly warnings: YamlProblem[] = [];
  private readonly locations = new Map<string, YamlPath>();

  constructor(private readonly file: YamlFile) {}

  read(): ConvertedDialectFile {
    const { file } = this;
    const value = isPlain(file.value) ? this.workflow(file.value) : file.value;
    const problem: YamlFile['problem'] = (path, text, key) => file.problem(this.locationOf(path), text, key);
    return {
      file: { ...file, value, problem, isPlain: (path) => file.isPlain(this.locationOf(path)) },
      problems: this.problems,
      warnings: this.warnings,
    };
  }

  private workflow(given: Plain): Plain {
    const value = this.keys(withoutNull(given), [], dialectKeyRules.workflow);
    if (isPlain(value.config)) value.config = this.keys(value.config, ['config'], dialectKeyRules.config);
    if (isPlain(value.settings)) value.settings = this.settings(value.settings);
    if (Array.isArray(value.nodes)) value.nodes = value.nodes.map((node, index) => this.node(node, ['nodes', index]));
    if (Array.isArray(value.edges)) value.edges = this.edges(value.edges);
    return value;
  }

  private settings(given: Plain): Plain {
    const path = ['settings'];
    const value = this.keys(given, path, dialectKeyRules.settings);
    for (const key of ['llm', 'parallel'] as const)
      if (isPlain(value[key])) value[key] = this.keys(value[key], [...path, key], dialectKeyRules[key]);
    return value;
  }

  private node(given: unknown, path: YamlPath): unknown {
    if (!isPlain(given)) return given;
    let value = this.keys(given, path, dialectKeyRules.node);
    const { run, type } = value;
    const language = isPlain(run) && typeof run.code === 'string' ? run.type : value.language;
    if (isPlain(run) && typeof run.code === 'string') value.run = run.code;
    if (typeof value.run === 'string' && language !== undefined && language !== 'python') {
      this.setLocation([...path, 'script'], [...path, 'run']);
      value = without({ ...value, script: value.run }, 'run');
    }
    if (typeof value.run === 'string' || value.script !== undefined || language === 'python')
      value = without(value, 'language');
    if (type === 'dynamic_parallel') value = this.overList(value, path);
    if (isPlain(value.with) && typeof value.uses === 'string' && /^(actions\.)?llm[._]/.test(value.uses))
      value.with = this.request(value.with, [...path, 'with']);
    for (const list of ['steps', 'body'] as const)
      if (Array.isArray(value[list])) {
        const here = [...path, list];
        value[list] = value[list].map((step, index) => this.node(step, [...here, index]));
      }
    return value;
  }

  /** Converts `dynamic_parallel` to `foreach`: `action` becomes the only step, `fan_in` the following node. */
  private overList(given: Plain, path: YamlPath): Plain {
    const { parallel_config: config, action, subgraph, input, fan_in, ...rest } = given;
    const value: Plain = { on_error: 'continue', ...rest };
    for (const [theirs, ours] of listKeys) {
      if (value[theirs] === undefined || value[ours] !== undefined) continue;
      value[ours] = value[theirs];
      delete value[theirs];
      this.setLocation([...path, ours], [...path, theirs]);
    }
    if (isPlain(config)) {
      const { max_concurrency, fail_fast, ...others } = config;
      for (const key of Object.keys(others))
        this.problems.push(
          this.file.problem([...path, 'parallel_config', key], message('There is no key `{0}` here.', key), 'key'),
        );
      value.max_workers ??= max_concurrency;
      value.fail_fast ??= fail_fast;
      for (const key of ['max_workers', 'fail_fast']) this.setLocation([...path, key], [...path, 'parallel_config']);
    }
    const bodies = Object.entries({ action, steps: rest.steps, subgraph }).filter(([, one]) => one !== undefined);
    if (bodies.length > 1) this.problems.push(this.file.problem([...path, bodies[1]![0]], oneBody, 'key'));
    if (action !== undefined && rest.steps === undefined) {
      value.steps = [action];
      this.setLocation([...path, 'steps', 0], [...path, 'action']);
    }
    const [, workflow] = /^(?:\.\/)?([\w.-]+)\.(?:ya?ml|json)$/.exec(String(subgraph)) ?? [];
    if (workflow !== undefined && bodies.length === 1) {
      value.steps = [{ uses: nestedWorkflowActionName, with: { workflow, inputs: input ?? {} } }];
      this.setLocation([...path, 'steps', 0, 'with', 'workflow'], [...path, 'subgraph']);
      this.setLocation([...path, 'steps', 0, 'with', 'inputs'], [...path, 'input']);
    } else if (subgraph !== undefined) this.problems.push(this.file.problem([...path, 'subgraph'], noSubgraph));
    else if (input !== undefined) value.input = input;
    const edges = isPlain(this.file.value) && Array.isArray(this.file.value.edges) ? this.file.value.edges : [];
    const follows = value.goto !== undefined || edges.some((edge) => isPlain(edge) && edge.from === value.name);
    if (fan_in !== undefined && !follows) {
      value.goto = fan_in;
      this.setLocation([...path, 'goto'], [...path, 'fan_in']);
    }
    return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
  }

  /**
   * Converts a model call: `prompt` becomes a message, and provider and model become one model id. An unknown provider is ignored with a
   * warning.
   */
  private request(given: Plain, path: YamlPath): Plain {
    const { prompt, system, provider, model, ...rest } = this.keys(given, path, dialectKeyRules.request);
    if (prompt !== undefined && rest.messages === undefined) {
      const messages = [...(system === undefined ? [] : [{ role: 'system', content: system }])];
      this.setLocation([...path, 'messages'], [...path, 'prompt']);
      rest.messages = [...messages, { role: 'user', content: prompt }];
    } else Object.assign(rest, { ...(prompt !== undefined && { prompt }), ...(system !== undefined && { system }) });
    const named = provider === undefined ? model : modelAt(provider, model);
    if (named !== undefined) rest.model = named;
    if (provider !== undefined && named === undefined)
      this.warnings.push(this.file.problem([...this.locationOf(path), 'provider'], otherProvider, 'key'));
    return rest;
  }

  private edges(given: readonly unknown[]): unknown[] {
    const theirs = given.map((one, index) =>
      isPlain(one) ? this.keys(one, ['edges', index], dialectKeyRules.edge) : one,
    );
    const ours: unknown[] = [];
    for (const [index, edge] of theirs.entries()) {
      const path = ['edges', index];
      const to: unknown[] | undefined = isPlain(edge) && Array.isArray(edge.to) ? edge.to : undefined;
      if (to && isPlain(edge) && edge.parallel !== true && edge.type !== 'parallel')
        this.problems.push(this.file.problem([...path, 'to'], message('Only a parallel edge leads to several nodes.')));
      for (const [index, target] of (to ?? [undefined]).entries()) {
        this.locations.set(JSON.stringify(['edges', ours.length]), path);
        if (to) this.locations.set(JSON.stringify(['edges', ours.length, 'to']), [...path, 'to', index]);
        ours.push(to ? { ...(edge as Plain), to: target } : edge);
      }
    }
    return ours;
  }

  private keys(given: Plain, path: YamlPath, table: Record<string, DialectKeyRule>): Plain {
    const entries = Object.entries(given).flatMap(([key, value]): [string, unknown][] => {
      const rule = Object.hasOwn(table, key) ? table[key]! : undefined;
      if (!rule || rule.unless?.(value)) return [[key, value]];
      if (rule.as !== undefined) {
        if (Object.hasOwn(given, rule.as)) return [[key, value]];
        this.setLocation([...path, rule.as], [...path, key]);
        return [[rule.as, value]];
      }
      const harmless = rule.harmless?.(value) ?? false;
      if (!harmless)
        this.warnings.push(
          this.file.problem([...this.locationOf(path), key], rule.message ?? ignoredDialectKeyMessage, 'key'),
        );
      return [];
    });
    return Object.fromEntries(entries);
  }

  private setLocation(ours: YamlPath, theirs: YamlPath): void {
    this.locations.set(JSON.stringify(ours), this.locationOf(theirs, ours));
  }

  private locationOf(path: YamlPath, unless?: YamlPath): YamlPath {
    for (let length = path.length; length > 0; length--) {
      const ours = path.slice(0, length);
      const theirs = this.locations.get(JSON.stringify(ours));
      if (theirs && JSON.stringify(ours) !== JSON.stringify(unless)) return [...theirs, ...path.slice(length)];
    }
    return path;
  }
}

const listKeys = [
  ['items', 'foreach'],
  ['item_var', 'item'],
  ['index_var', 'index'],
  ['max_concurrency', 'max_workers'],
] as const;
const oneBody = message('A node over a list does one thing per item: `action`, `steps` or `subgraph`.');
const noSubgraph = message('Use the name of a file in `.towpath/workflows`: `./name.yaml`.');
const otherProvider = message(
  'Towpath uses the model selected in its panel instead; providers are set up there. Use `model: provider/name` for another one.',
);

/** Providers of the dialect; providers of other hosts (`shell`, `local`, …) have no equivalent. */
const providers: Record<string, string> = {
  ...{ openai: 'openai', azure: 'azure', ollama: 'ollama', anthropic: 'anthropic', google: 'google', gemini: 'google' },
};

function modelAt(provider: unknown, model: unknown): unknown {
  if (typeof model !== 'string' || provider === 'auto') return provider === 'auto' ? model : undefined;
  const [first = '', ...rest] = provider === 'litellm' ? model.split('/') : [String(provider), model];
  const known = Object.hasOwn(providers, first) ? providers[first] : undefined;
  return known && rest.length > 0 ? `${known}/${rest.join('/')}` : undefined;
}

const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const without = (value: Plain, ...keys: string[]): Plain =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));

/** Removes null values: `edges:` without content is no edges. */
const withoutNull = (value: Plain): Plain =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null));

import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
export interface DialectKeyRule {
  as?: string;
  message?: LocalizedMessage;
  /** Returns true if omitting this value has no effect, so no warning is needed. */
  harmless?(value: unknown): boolean;
  /** Returns true for a value that the file check reports as an error. */
  unless?(value: unknown): boolean;
}

export const ignoredDialectKeyMessage = message('Towpath does not use this key of the dialect and leaves it out.');

const always = () => true;
const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);
const isFilled = (value: unknown) => !isEmpty(value);
const silent: DialectKeyRule = { harmless: always };
const empty: DialectKeyRule = { harmless: always, unless: isFilled };
const plain: DialectKeyRule = {};
const all = <Key extends string>(rule: DialectKeyRule, ...keys: Key[]) =>
  Object.fromEntries(keys.map((key) => [key, rule])) as Record<Key, DialectKeyRule>;

const setUp: DialectKeyRule = {
  message: message('Models are set up in Towpath, not in a file. The model selected in the panel is used.'),
};
const keyHere: DialectKeyRule = {
  message: message(
    'Keys belong in the editor’s secret storage; this one is not used. Remove it from the file and run *Towpath: Set API Key*.',
  ),
};
const storedByTowpath: DialectKeyRule = {
  message: message('Runs are stored automatically. There are no checkpoint files.'),
};

/**
 * Keys of `fabceolin/the_edge_agent` (docs/shared/YAML_REFERENCE.md and its examples) that are synonyms of ours or can be omitted without
 * changing the behavior.
 */
export const dialectKeyRules = {
  workflow: {
    ...all(silent, 'version', 'metadata'),
    imports: empty,
    ...all(empty, 'interrupt_before', 'interrupt_after'),
    endpoint: { message: message('Towpath serves no addresses. The file runs from the Command Palette.') },
    ...all(plain, 'output_schema', 'observability'),
    ...all(plain, 'extraction_schema', 'validation_constraints', 'semantic_probes', 'validation_logging'),
  },
  config: {
    ...all(empty, 'interrupt_before', 'interrupt_after'),
    checkpoint_dir: storedByTowpath,
  },
  settings: {
    ...all(plain, 'auth', 'session', 'firestore', 'graph', 'ltm', 'memory', 'memory_infrastructure', 'error_handling'),
    ...all(plain, 'auto_trace', 'trace_exporter', 'trace_file', 'trace_format', 'auto_trace_llm_payloads'),
    ...all(
      plain,
      'opik',
      'opik_llm_tracing',
      'rate_limiters',
      'agents',
      'a2a',
      'llamaindex',
      'rag',
      'dspy',
      'textgrad',
    ),
    ...all(plain, 'execution', 'progress', 'prolog', 'interview'),
    secrets: { message: message('Keys stay in the editor’s secret storage and are never passed to a workflow.') },
    ...all(setUp, 'shell_providers', 'model', 'temperature'),
  },
  llm: {
    ...all(
      setUp,
      'backend',
      'provider',
      'model_path',
      'n_ctx',
      'n_gpu_layers',
      'api_base',
      'api_version',
      'deployment',
    ),
    ...all(setUp, 'shell_providers', 'default_model', 'default_provider', 'timeout'),
    api_key: keyHere,
  },
  parallel: {
    strategy: {
      message: message('Branches run beside each other in the editor.'),
      harmless: (value) => value === 'thread',
    },
    remote: { message: message('Branches run beside each other in the editor.') },
    streams: plain,
  },
  node: {
    metadata: silent,
    type: { harmless: always, unless: (value) => value !== 'standard' },
    action: { as: 'uses', unless: (value) => typeof value !== 'string' },
    params: { as: 'with' },
    output_key: { as: 'output' },
    outputs: { as: 'output' },
  },
  request: {
    ...all(setUp, 'backend', 'api_base', 'api_version', 'deployment', 'shell_provider', 'model_path', 'n_ctx'),
    ...all(setUp, 'n_gpu_layers', 'timeout', 'extra_body'),
    ...all(plain, 'opik_trace', 'opik_project_name'),
    api_key: keyHere,
  },
  edge: {
    metadata: silent,
    parallel_strategy: {
      message: message('Branches run beside each other in the editor.'),
      harmless: (value) => value === 'thread',
    },
  },
} satisfies Record<string, Record<string, DialectKeyRule>>;

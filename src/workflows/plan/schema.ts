import * as z from 'zod';
import { sentence } from '../../protocol/l10n.ts';

// The files as people write them, in snake_case. Descriptions are shown by the editor while they are being written.

const text = z.string().min(1);
/** A name that can be a key and a part of an id; nothing that means something to an object. */
const name = z
  .string()
  .regex(/^[A-Za-z0-9_][\w.-]{0,63}$/, sentence('Use letters, digits, `_`, `-` and `.`, at most 64 of them.').english)
  .refine(
    (value) => !['__proto__', 'constructor', 'prototype'].includes(value),
    sentence('This name is not allowed.').english,
  );
const stateKey = z
  .string()
  .regex(/^(?!__proto__$|constructor$|prototype$)[A-Za-z_]\w{0,63}$/, sentence('Use letters, digits and `_`.').english);
const target = text.meta({ description: 'A node, or `__end__`.' });
const condition = z
  .union([z.string().min(1), z.boolean()])
  .meta({ description: 'A Jinja expression over `state` and `variables`, e.g. `state.score > 0.5`.' });
const words = z.string().optional().meta({ description: 'For people who read it.' });
const values = z.record(stateKey, z.unknown());
const parameters = z
  .record(z.string(), z.unknown())
  .meta({ description: 'What the action is given. Texts are Jinja templates: `{{ state.question }}`.' });
const output = z.union([stateKey, values]).meta({
  description:
    'The state key for the result, or keys with templates over `result`. Without it a result’s own keys are kept.',
});

const actionName = text.meta({
  description:
    '`llm.call`, `llm.stream`, `llm.retry`, `llm.tools`, `state.set`, `workflow.run`, or a tool of the workspace (`fs.read`, `shell.run`, …).',
});

const subschema = z.union([z.boolean(), z.record(z.string(), z.unknown())]);
const size = z.number().int().min(0);

/** A JSON schema, but that `required` says whether the parameter itself is needed; a list of names is of an object's properties. */
const toolParameter = z.strictObject({
  type: z.enum(['string', 'integer', 'number', 'boolean', 'array', 'object']).default('string'),
  title: z.string().optional(),
  description: z.string().optional(),
  required: z.union([z.boolean(), z.array(z.string())]).default(false),
  default: z.unknown().optional(),
  examples: z.array(z.unknown()).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  exclusiveMaximum: z.number().optional(),
  multipleOf: z.number().optional(),
  minLength: size.optional(),
  maxLength: size.optional(),
  pattern: z.string().optional(),
  format: z.string().optional(),
  items: subschema.optional(),
  minItems: size.optional(),
  maxItems: size.optional(),
  uniqueItems: z.boolean().optional(),
  properties: z.record(z.string(), subschema).optional(),
  additionalProperties: subschema.optional(),
});

export const toolSpecSchema = z
  .strictObject({
    name,
    description: z.string(),
    parameters: z.record(stateKey, toolParameter).default({}),
    action: actionName,
    with: parameters.optional(),
  })
  .meta({ description: 'A tool of your own: what the model sees, and the action that it calls.' });
export type ToolSpec = z.infer<typeof toolSpecSchema>;

const toolList = z
  .array(z.union([text, toolSpecSchema]))
  .meta({ description: 'Names of tools (`fs.read`, `fs.*`), or tools of your own.' });

const turns = z.number().int().min(1).max(500);

export const agentSchema = z
  .strictObject({
    name: text.optional().meta({ description: 'What it is called; without it the name of the file.' }),
    description: words,
    instructions: text.meta({ description: 'Who the agent is and how it works.' }),
    model: text.optional().meta({
      description:
        '`provider/model`, or `plan` or `small`: what you have for that. Without it the model chosen in the panel.',
    }),
    tools: toolList.optional().meta({ description: 'The tools it may use; without it all.' }),
    temperature: z.number().min(0).max(2).optional().meta({
      description: 'How much its answers vary, 0 to 2; without it `towpath.temperature`.',
    }),
    max_turns: turns.optional().meta({
      description: 'Model calls that it may make before it asks whether to go on, at most `towpath.maxTurns`.',
    }),
    maxTurns: turns.optional().meta({ description: 'Another word for `max_turns`.', deprecated: true }),
    approval: z.enum(['default', 'ask', 'read_only']).default('default').meta({
      description: 'Narrower than your own settings, never wider: `ask` asks every time, `read_only` changes nothing.',
    }),
  })
  .meta({ title: 'Towpath agent' });
export type AgentFile = z.infer<typeof agentSchema>;

const expressionRun = z
  .strictObject({
    type: z.literal('expression').meta({ description: 'Always `expression`.' }),
    value: text.meta({ description: 'The expression, without braces: `state.round + 1`.' }),
    output_key: stateKey.default('result').meta({ description: 'The key: `result` without it.' }),
  })
  .meta({ description: 'The value of a Jinja expression, under a key of the state.' });

const onError = z
  .union([
    z.enum(['continue', 'retry']),
    z
      .strictObject({
        retry: z.number().int().min(1).max(20).optional().meta({ description: 'How often it is tried again.' }),
        wait: z.number().min(0).max(600).optional().meta({
          description: 'Seconds before it is tried again: 1 without it, each time twice as long, 60 at most.',
        }),
        continue: z.literal(true).optional().meta({ description: 'Go on as if it had worked.' }),
        goto: target.optional(),
      })
      .refine(
        (rule) => rule.retry ?? rule.continue ?? rule.goto,
        sentence('Write `retry`, `continue` or `goto`.').english,
      )
      .refine((rule) => !(rule.continue && rule.goto), sentence('Write `continue` or `goto`.').english),
  ])
  .transform((rule) => (rule === 'continue' ? { continue: true as const } : rule === 'retry' ? { retry: 3 } : rule))
  .meta({
    description:
      'When it fails: `continue`, `retry` (3 times), or `{retry, wait}` with `continue: true` or `goto` for when that does not help. `state.error` is `{node, code, message}` then, and null when it worked.',
  });
export type OnError = z.infer<typeof onError>;

const stepShape = {
  name: name.optional().meta({ description: 'How it is called.' }),
  description: words,
  uses: actionName.optional(),
  with: parameters.optional(),
  output: output.optional(),
  run: expressionRun.optional(),
  on_error: onError.optional(),
};
const stepSchema = z.strictObject(stepShape);
export type Step = z.infer<typeof stepSchema>;

const gotoSchema = z
  .union([target, z.array(z.strictObject({ if: condition.optional(), to: target })).min(1)])
  .meta({ description: 'The node that follows, or a list of `if` and `to`: the first that holds wins.' });

const nodeSchema = z.strictObject({
  ...stepShape,
  name: name.meta({ description: 'How `goto` and `edges` call it. No two nodes have the same.' }),
  type: z.enum(['while_loop', 'dynamic_parallel']).optional(),
  foreach: z
    .union([text, z.array(z.unknown())])
    .optional()
    .meta({
      description:
        'A list, or an expression that gives one (`state.files`): what the node does is done for each item, side by side. `output` is the list of what that set, in the same order; without it `parallel_results`.',
    }),
  item: stateKey.optional().meta({ description: 'What `foreach` calls an item: `item` without it.' }),
  index: stateKey.optional().meta({ description: 'What `foreach` calls its place, from 0: `index` without it.' }),
  max_workers: z
    .number()
    .int()
    .min(1)
    .max(64)
    .optional()
    .meta({ description: 'How many items of `foreach` are at work at once: 8 without it.' }),
  fail_fast: z
    .boolean()
    .optional()
    .meta({ description: 'Of `foreach`: once an item has failed no other is begun. Without it all are done first.' }),
  steps: z
    .array(stepSchema)
    .min(1)
    .optional()
    .meta({ description: 'Several steps, one after the other; each has `uses`, `with`, `output`, `run`, `on_error`.' }),
  agent: z
    .union([name, agentSchema])
    .optional()
    .meta({ description: 'An agent of `.towpath/agents`, or one of its own, that works here in the conversation.' }),
  prompt: text.optional().meta({ description: 'What the agent is told to do here.' }),
  condition: condition.optional().meta({ description: 'Of a `while_loop`: it goes on as long as this holds.' }),
  max_iterations: z
    .number()
    .int()
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: 'Of a `while_loop`: how many rounds it has at most, up to 1000.' }),
  body: z.array(stepSchema).min(1).optional().meta({ description: 'Of a `while_loop`: the steps of a round.' }),
  fan_in: z
    .boolean()
    .optional()
    .meta({ description: 'Parallel branches end here; `parallel_results` holds their states.' }),
  goto: gotoSchema.optional(),
});
export type NodeSpec = z.infer<typeof nodeSchema>;

const edgeSchema = z.strictObject({
  from: text.optional().meta({ description: 'A node, or `__start__`.' }),
  to: target,
  type: z
    .enum(['normal', 'parallel', 'entry', 'finish'])
    .default('normal')
    .meta({ description: 'Another word for `parallel: true`, `from: __start__` and `to: __end__`.' }),
  parallel: z
    .boolean()
    .optional()
    .meta({ description: 'It begins a branch beside those of the other parallel edges.' }),
  fan_in: text.optional().meta({ description: 'Of parallel edges: the node where their branches end.' }),
  when: condition.optional(),
  condition: z
    .union([text, z.strictObject({ type: z.literal('expression'), value: text })])
    .optional()
    .meta({ description: 'Another word for `when`; with both, it has to give what `when` says.' }),
});
export type EdgeSpec = z.infer<typeof edgeSchema>;

export const workflowSchema = z
  .strictObject({
    name: text.optional().meta({ description: 'What the run is called; without it the name of the file.' }),
    description: words,
    variables: z.record(stateKey, z.unknown()).default({}).meta({ description: 'Constants: `{{ variables.key }}`.' }),
    state_schema: z.record(stateKey, z.unknown()).default({}).meta({
      description:
        'The keys of the state and their types (`str`, `int`, `list[str]`, `Optional[dict]`, …). What has no value is asked for.',
    }),
    input_schema: z.record(stateKey, z.unknown()).default({}).meta({
      description: 'What is asked for, strictly: `{type, required, default, min, max, choices, …}` for each key.',
    }),
    initial_state: values.default({}).meta({ description: 'Values that the state begins with.' }),
    settings: z
      .strictObject({
        llm: z
          .strictObject({
            model: text.optional().meta({ description: 'The model of every `llm.*` call that names none.' }),
            temperature: z.number().min(0).max(2).optional().meta({ description: 'Of those that give none.' }),
            max_tokens: z.number().int().min(1).optional().meta({ description: 'Of those that give none.' }),
          })
          .optional()
          .meta({ description: 'What `llm.*` calls have that do not say it themselves.' }),
        max_visits: z
          .number()
          .int()
          .min(1)
          .max(1000)
          .optional()
          .meta({ description: 'How often one node may be reached: 50 without it.' }),
        parallel: z
          .strictObject({
            max_workers: z
              .number()
              .int()
              .min(1)
              .max(64)
              .optional()
              .meta({ description: 'Without it 8, for `foreach` as well.' }),
          })
          .optional()
          .meta({ description: 'How many agents of parallel branches work at once: 8 without it.' }),
      })
      .default({})
      .meta({ description: 'Of all of the file.' }),
    limits: z
      .strictObject({
        cost: z
          .number()
          .min(0.001)
          .optional()
          .meta({ description: 'US dollars, where the prices of its models are known.' }),
        minutes: z.number().min(0.1).optional().meta({ description: 'Minutes, with the time that your answers take.' }),
      })
      .optional()
      .meta({ description: 'What it may take before it rests and tells you; *Continue* allows as much again.' }),
    config: z
      .strictObject({ raise_exceptions: z.boolean().optional().meta({ description: 'It changes nothing here.' }) })
      .optional()
      .meta({ description: 'Of the dialect’s other hosts; it changes nothing here.' }),
    tools: z
      .array(toolSpecSchema)
      .default([])
      .meta({ description: 'Tools of your own, for `tools` of agents and of `llm.tools`.' }),
    nodes: z.array(nodeSchema).min(1).meta({ description: 'What is done; the first one is where it begins.' }),
    edges: z.array(edgeSchema).default([]).meta({
      description: 'Ways from node to node, for those that have no `goto`. A node with neither leads to the next one.',
    }),
  })
  .meta({ title: 'Towpath workflow' });
export type WorkflowFile = z.infer<typeof workflowSchema>;

import * as z from 'zod';
import { message } from '../../protocol/text/l10n.ts';

// Schemas of the files in snake_case. The editor shows the descriptions during input.

const text = z.string().min(1);
const name = z
  .string()
  .regex(/^[A-Za-z0-9_][\w.-]{0,63}$/, message('Use letters, digits, `_`, `-` and `.`, at most 64 of them.').english)
  .refine(
    (value) => !['__proto__', 'constructor', 'prototype'].includes(value),
    message('This name is not allowed.').english,
  );
const stateKey = z
  .string()
  .regex(/^(?!__proto__$|constructor$|prototype$)[A-Za-z_]\w{0,63}$/, message('Use letters, digits and `_`.').english);
const target = text.meta({ description: 'A node, or `__end__`.' });
const condition = z
  .union([z.string().min(1), z.boolean()])
  .meta({ description: 'A Jinja expression over `state` and `variables`, e.g. `state.score > 0.5`.' });
const descriptionText = z.string().optional().meta({ description: 'Description for readers.' });
const values = z.record(stateKey, z.unknown());
const parameters = z
  .record(z.string(), z.unknown())
  .meta({ description: 'Arguments of the action. Texts are Jinja templates: `{{ state.question }}`.' });
const output = z.union([stateKey, values]).meta({
  description: 'State key for the result, or keys with templates over `result`. Default: the keys of the result.',
});

const actionName = text.meta({
  description:
    '`llm.call`, `llm.stream`, `llm.retry`, `llm.tools`, `state.set`, `workflow.run`, or a tool of the workspace (`fs.read`, `shell.run`, …).',
});

const subschema = z.union([z.boolean(), z.record(z.string(), z.unknown())]);
const size = z.number().int().min(0);

/**
 * Schema of a parameter: JSON schema, except that a boolean `required` refers to the parameter itself; a list of names refers to the
 * properties of an object.
 */
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
  .meta({ description: 'Custom tool: what the model sees, and the action behind it.' });
export type ToolSpec = z.infer<typeof toolSpecSchema>;

const toolList = z
  .array(z.union([text, toolSpecSchema]))
  .meta({ description: 'Names of tools (`fs.read`, `fs.*`), or custom tools.' });

const turns = z.number().int().min(1).max(500);

export const agentSchema = z
  .strictObject({
    name: text.optional().meta({ description: 'Name. Default: the name of the file.' }),
    description: descriptionText,
    instructions: text.meta({ description: 'Persona and instructions.' }),
    model: text.optional().meta({
      description: '`provider/model`, or a role: `plan`, `review`, `small`. Default: the model selected in the panel.',
    }),
    tools: toolList.optional().meta({ description: 'Tools of the agent. Default: all.' }),
    temperature: z.number().min(0).max(2).optional().meta({
      description: '0 to 2. Default: `towpath.temperature`.',
    }),
    max_turns: turns.optional().meta({
      description: 'Maximum number of steps before it asks whether to continue, up to `towpath.maxTurns`.',
    }),
    maxTurns: turns.optional().meta({ description: 'Same as `max_turns`.', deprecated: true }),
    approval: z.enum(['default', 'ask', 'read_only']).default('default').meta({
      description: 'Narrows your permissions: `ask` asks every time, `read_only` changes nothing.',
    }),
  })
  .meta({ title: 'Towpath agent' });
export type AgentFile = z.infer<typeof agentSchema>;

const expressionRun = z
  .strictObject({
    type: z.literal('expression').meta({ description: 'Always `expression`.' }),
    value: text.meta({ description: 'The expression, without braces: `state.round + 1`.' }),
    output_key: stateKey.default('result').meta({ description: 'State key. Default: `result`.' }),
  })
  .meta({ description: 'Stores the value of a Jinja expression in a state key.' });

const onError = z
  .union([
    z.enum(['continue', 'retry']),
    z
      .strictObject({
        retry: z.number().int().min(1).max(20).optional().meta({ description: 'Number of retries.' }),
        wait: z.number().min(0).max(600).optional().meta({
          description: 'Seconds before the first retry, doubled each time, up to 60. Default: 1.',
        }),
        continue: z.literal(true).optional().meta({ description: 'Continue as after a success.' }),
        goto: target.optional(),
      })
      .refine(
        (rule) => rule.retry ?? rule.continue ?? rule.goto,
        message('Write `retry`, `continue` or `goto`.').english,
      )
      .refine((rule) => !(rule.continue && rule.goto), message('Write `continue` or `goto`.').english),
  ])
  .transform((rule) => (rule === 'continue' ? { continue: true as const } : rule === 'retry' ? { retry: 3 } : rule))
  .meta({
    description:
      'After a failure: `continue`, `retry` (3 times), or `{retry, wait}` with `continue: true` or `goto`. `state.error` is `{node, code, message}`, or null after a success.',
  });
export type StepErrorPolicy = z.infer<typeof onError>;

const stepShape = {
  name: name.optional().meta({ description: 'Name.' }),
  description: descriptionText,
  uses: actionName.optional(),
  with: parameters.optional(),
  output: output.optional(),
  run: expressionRun.optional(),
  on_error: onError.optional(),
};
const stepSchema = z.strictObject(stepShape);
export type WorkflowStep = z.infer<typeof stepSchema>;

const gotoSchema = z
  .union([target, z.array(z.strictObject({ if: condition.optional(), to: target })).min(1)])
  .meta({ description: 'Next node, or a list of `if` and `to`; the first match is used.' });

const nodeSchema = z.strictObject({
  ...stepShape,
  name: name.meta({ description: 'Unique name, used by `goto` and `edges`.' }),
  type: z.enum(['while_loop', 'dynamic_parallel']).optional(),
  foreach: z
    .union([text, z.array(z.unknown())])
    .optional()
    .meta({
      description:
        'List, or an expression for one (`state.files`). The node runs for each item, in parallel. `output` (default: `parallel_results`) is the list of results, in order.',
    }),
  item: stateKey.optional().meta({ description: 'Name of the item of `foreach`. Default: `item`.' }),
  index: stateKey.optional().meta({ description: 'Name of the position, from 0. Default: `index`.' }),
  max_workers: z
    .number()
    .int()
    .min(1)
    .max(64)
    .optional()
    .meta({ description: 'Parallel items of `foreach`. Default: 8.' }),
  fail_fast: z
    .boolean()
    .optional()
    .meta({ description: '`foreach` starts no items after a failure. Default: all are run.' }),
  steps: z
    .array(stepSchema)
    .min(1)
    .optional()
    .meta({ description: 'Steps in order; each has `uses`, `with`, `output`, `run`, `on_error`.' }),
  agent: z
    .union([name, agentSchema])
    .optional()
    .meta({ description: 'Agent of `.towpath/agents`, or an inline one, that works in the conversation.' }),
  prompt: text.optional().meta({ description: 'Task of the agent.' }),
  condition: condition.optional().meta({ description: 'Condition of a `while_loop`.' }),
  max_iterations: z
    .number()
    .int()
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: 'Maximum number of rounds of a `while_loop`, up to 1000.' }),
  body: z.array(stepSchema).min(1).optional().meta({ description: 'Steps of a round of a `while_loop`.' }),
  fan_in: z
    .boolean()
    .optional()
    .meta({ description: 'Parallel branches end here; `parallel_results` contains their states.' }),
  goto: gotoSchema.optional(),
});
export type NodeDefinition = z.infer<typeof nodeSchema>;

const edgeSchema = z.strictObject({
  from: text.optional().meta({ description: 'A node, or `__start__`.' }),
  to: target,
  type: z
    .enum(['normal', 'parallel', 'entry', 'finish'])
    .default('normal')
    .meta({ description: 'Same as `parallel: true`, `from: __start__` and `to: __end__`.' }),
  parallel: z.boolean().optional().meta({ description: 'Starts a parallel branch.' }),
  fan_in: text.optional().meta({ description: 'Node where the branches of parallel edges end.' }),
  when: condition.optional(),
  condition: z
    .union([text, z.strictObject({ type: z.literal('expression'), value: text })])
    .optional()
    .meta({ description: 'Same as `when`; with both, they must agree.' }),
});
export type EdgeDefinition = z.infer<typeof edgeSchema>;

export const workflowSchema = z
  .strictObject({
    name: text.optional().meta({ description: 'Title of the run. Default: the name of the file.' }),
    description: descriptionText,
    variables: z.record(stateKey, z.unknown()).default({}).meta({ description: 'Constants: `{{ variables.key }}`.' }),
    state_schema: z.record(stateKey, z.unknown()).default({}).meta({
      description:
        'State keys and types (`str`, `int`, `list[str]`, `Optional[dict]`, …). You are asked for missing values.',
    }),
    input_schema: z.record(stateKey, z.unknown()).default({}).meta({
      description: 'Checked inputs: `{type, required, default, min, max, choices, …}` for each key.',
    }),
    initial_state: values.default({}).meta({ description: 'Initial values of the state.' }),
    settings: z
      .strictObject({
        llm: z
          .strictObject({
            model: text.optional().meta({ description: 'Default model of `llm.*`.' }),
            temperature: z.number().min(0).max(2).optional().meta({ description: 'Default temperature of `llm.*`.' }),
            max_tokens: z.number().int().min(1).optional().meta({ description: 'Default `max_tokens` of `llm.*`.' }),
          })
          .optional()
          .meta({ description: 'Defaults of `llm.*` calls.' }),
        max_visits: z
          .number()
          .int()
          .min(1)
          .max(1000)
          .optional()
          .meta({ description: 'Maximum visits of a node. Default: 50.' }),
        parallel: z
          .strictObject({
            max_workers: z
              .number()
              .int()
              .min(1)
              .max(64)
              .optional()
              .meta({ description: 'Parallel agents of branches and items. Default: 8.' }),
          })
          .optional()
          .meta({ description: 'Settings of parallel branches.' }),
      })
      .default({})
      .meta({ description: 'Settings of the file.' }),
    limits: z
      .strictObject({
        cost: z.number().min(0.001).optional().meta({ description: 'US dollars, if prices are known.' }),
        minutes: z.number().min(0.1).optional().meta({ description: 'Minutes, including your answers.' }),
      })
      .optional()
      .meta({ description: 'Limits before the run pauses; *Continue* allows the same amount again.' }),
    config: z
      .strictObject({ raise_exceptions: z.boolean().optional().meta({ description: 'Ignored.' }) })
      .optional()
      .meta({ description: 'Settings of other hosts; ignored.' }),
    tools: z.array(toolSpecSchema).default([]).meta({ description: 'Custom tools for agents and `llm.tools`.' }),
    nodes: z.array(nodeSchema).min(1).meta({ description: 'Nodes; the first one starts.' }),
    edges: z.array(edgeSchema).default([]).meta({
      description: 'Edges between nodes without `goto`. A node with neither leads to the next one.',
    }),
  })
  .meta({ title: 'Towpath workflow' });
export type WorkflowFile = z.infer<typeof workflowSchema>;

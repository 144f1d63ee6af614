import { toWireToolName } from '../../llm/core/wireToolNames.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { builtInWorkflowActionNames, suggestedWorkflowActionNames } from '../action/actions.ts';
import { quoteFilterProblem } from '../action/commandLines.ts';
import { unsupportedActionMessage } from '../action/dialectActions.ts';
import { nestedWorkflowActionName } from '../action/nested.ts';
import { workflowActionParameters } from '../action/parameters.ts';
import { invalidSchemaReason } from '../action/schemaCheck.ts';
import { matchesToolPattern, toolSpecToDefinition } from '../action/toolSpecs.ts';
import { stateKeysSetByStep, stateTypeWarnings } from '../plan/inputs.ts';
import { edgesFrom, endNodeName, isParallelEdge, startNodeName } from '../plan/navigate.ts';
import {
  agentSchema,
  type NodeDefinition,
  type ToolSpec,
  toolSpecSchema,
  type WorkflowFile,
  type WorkflowStep,
  workflowSchema,
} from '../plan/schema.ts';
import { parseStateValueType } from '../plan/stateTypes.ts';
import { appendHint, didYouMeanHint } from '../template/near.ts';
import { expressionProblem, templateProblem } from '../template/template.ts';
import { loadYaml, schemaIssueToYamlProblems, type WorkflowFindings, type WorkflowLoadResult } from './check.ts';
import { dataFlowWarnings } from './dataFlow.ts';
import { convertWorkflowDialect } from './dialect.ts';
import { reachabilityFindings } from './reachability.ts';
import type { TemplateVariablePath } from './templateReads.ts';
import { addQuoteFilter, findUnquotedExpression, isShellSafeVariable, variablesReadByTemplate } from './unquoted.ts';
import { unquotedBooleanWarnings } from './unquotedWords.ts';
import type { YamlFile, YamlPath, YamlProblem } from './yaml.ts';

interface KnownNames {
  tools: readonly string[];
  /** Agents of `.towpath/agents`; undefined: not validated. The same applies to `workflows`. */
  agents?: readonly string[];
  workflows?: readonly string[];
}

/** Loads a workflow. Every foreseeable runtime failure is a problem with line and column. */
export const loadWorkflow = (text: string, known: KnownNames): WorkflowLoadResult<WorkflowFile> =>
  loadYaml(
    text,
    workflowSchema,
    (value, file, whole) => new Check(value, file, known, whole).all(),
    convertWorkflowDialect,
  );

export const loadAgent = (text: string, known: KnownNames) =>
  loadYaml(text, agentSchema, (value, file, whole) => {
    const check = new Check(emptyWorkflow, file, known, whole);
    check.tools(value.tools, ['tools']);
    return check;
  });

const emptyWorkflow = { nodes: [], edges: [], tools: [] } as unknown as WorkflowFile;

class Check {
  readonly problems: YamlProblem[] = [];
  readonly warnings: YamlProblem[] = [];
  private readonly names: string[];

  constructor(
    private readonly file: WorkflowFile,
    private readonly yaml: YamlFile,
    private readonly known: KnownNames,
    /** True if no part of `file` was omitted, so that missing names are errors. */
    private readonly whole: boolean,
  ) {
    this.names = file.nodes.map((node) => node.name);
  }

  all(): WorkflowFindings {
    const { file, whole } = this;
    this.stateSchema();
    for (const [index, tool] of file.tools.entries()) {
      this.toolSpec(tool, ['tools', index]);
      const same = [...this.known.tools, ...file.tools.slice(0, index).map(({ name }) => name)].find(
        (name) => toWireToolName(name) === toWireToolName(tool.name),
      );
      if (same !== undefined) this.add(['tools', index, 'name'], twice(tool.name, same));
    }
    for (const [index, node] of file.nodes.entries()) this.node(node, index);
    for (const index of file.edges.keys()) this.edge(index);
    if (!whole || this.problems.length > 0) return this;
    this.warnings.push(...dataFlowWarnings(file, this.yaml), ...unquotedBooleanWarnings(file, this.yaml));
    return reachabilityFindings(file, this.yaml, this.warnings);
  }

  tools(list: readonly (string | ToolSpec)[] | undefined, path: YamlPath): void {
    const names = [...this.known.tools, ...this.file.tools.map((tool) => tool.name)];
    this.distinct(list ?? [], path);
    for (const [index, item] of (list ?? []).entries()) {
      if (typeof item !== 'string') this.toolSpec(item, [...path, index]);
      else if (!isElsewhere(item) && !names.some((name) => matchesToolPattern(item, name)))
        this.add([...path, index], appendHint(message('There is no tool `{0}`.', item), didYouMeanHint(item, names)));
    }
  }

  private add(path: YamlPath, text: LocalizableText, key?: 'key'): void {
    this.problems.push(this.yaml.problem(path, text, key));
  }

  private warn(path: YamlPath, text: LocalizableText, key?: 'key'): void {
    this.warnings.push(this.yaml.problem(path, text, key));
  }

  private stateSchema(): void {
    for (const schema of ['state_schema', 'input_schema'] as const)
      for (const [key, written] of Object.entries(this.file[schema] ?? {}))
        if (!parseStateValueType(written))
          this.add(
            [schema, key],
            message(
              '{0} is not a type. Use `str`, `int`, `float`, `bool`, `list`, `dict` or `any`.',
              typeof written === 'string' ? `\`${written}\`` : message('This'),
            ),
          );
    for (const [key, value] of Object.entries(this.file.initial_state ?? {}))
      for (const problem of stateTypeWarnings(this.file, { [key]: value })) this.warn(['initial_state', key], problem);
  }

  private node(node: NodeDefinition, index: number): void {
    const path = ['nodes', index];
    if (node.name === startNodeName || node.name === endNodeName)
      this.add([...path, 'name'], message('`{0}` is not a name for a node.', node.name));
    if (this.names.indexOf(node.name) < index)
      this.add([...path, 'name'], message('Two nodes are named `{0}`.', node.name));
    const ways = (['uses', 'steps', 'agent', 'run', 'body'] as const).filter((key) => node[key] !== undefined);
    if (ways.length > 1)
      this.add([...path, ways[1]!], message('A node does one thing: `{0}` or `{1}`.', ways[0]!, ways[1]!), 'key');
    this.loop(node, path);
    this.each(node, path);
    if (node.on_error?.goto !== undefined) this.target(node.on_error.goto, [...path, 'on_error', 'goto']);
    if (node.on_error && node.agent !== undefined && node.foreach === undefined)
      this.add(
        [...path, 'on_error'],
        message('A failed agent needs your decision. `on_error` works with actions only.'),
        'key',
      );
    this.step(node, path);
    if (node.prompt !== undefined) {
      if (node.agent === undefined) this.add([...path, 'prompt'], message('`prompt` requires `agent`.'), 'key');
      this.template(node.prompt, [...path, 'prompt']);
    }
    if (node.agent !== undefined) this.agent(node.agent, [...path, 'agent']);
    for (const list of ['steps', 'body'] as const)
      for (const [index, step] of (node[list] ?? []).entries()) {
        this.step(step, [...path, list, index]);
        if (step.on_error?.goto !== undefined)
          this.add(
            [...path, list, index, 'on_error'],
            message('A step cannot have `goto`. Set `on_error` on its node.'),
            'key',
          );
      }
    if (typeof node.goto === 'string') this.target(node.goto, [...path, 'goto']);
    else
      for (const [index, rule] of (node.goto ?? []).entries()) {
        this.target(rule.to, [...path, 'goto', index, 'to']);
        this.expression(rule.if, [...path, 'goto', index, 'if']);
      }
  }

  private loop(node: NodeDefinition, path: YamlPath): void {
    const loop = node.type === 'while_loop';
    for (const key of ['condition', 'max_iterations', 'body'] as const) {
      if (loop && node[key] === undefined && this.whole) this.add(path, message('A `while_loop` needs `{0}`.', key));
      if (!loop && node[key] !== undefined)
        this.add([...path, key], message('`{0}` requires `type: while_loop`. Use `goto` for a choice.', key), 'key');
    }
    this.expression(node.condition, [...path, 'condition']);
  }

  private each(node: NodeDefinition, path: YamlPath): void {
    const { foreach, item = 'item', index = 'index' } = node;
    if (foreach === undefined) {
      if (node.type === 'dynamic_parallel') this.add(path, message('A `dynamic_parallel` node needs `items`.'));
      for (const key of ['item', 'index', 'max_workers', 'fail_fast'] as const)
        if (node[key] !== undefined) this.add([...path, key], message('`{0}` requires `foreach`.', key), 'key');
      return;
    }
    if (typeof foreach === 'string') this.expression(foreach, [...path, 'foreach']);
    else this.templates(foreach, [...path, 'foreach']);
    if (node.body)
      this.add([...path, 'foreach'], message('A loop cannot also iterate over a list. Use a separate node.'), 'key');
    else if (this.whole && [node.uses, node.steps, node.agent, node.run].every((way) => way === undefined))
      this.add(
        [...path, 'foreach'],
        message('Set what is done for each item: `uses`, `steps`, `run` or `agent`.'),
        'key',
      );
    for (const [key, text] of Object.entries(typeof node.output === 'object' ? node.output : {})) {
      const read = typeof text === 'string' ? variablesReadByTemplate(text, false).find(isOfResult) : undefined;
      if (read)
        this.add(
          [...path, 'output', key],
          message(
            'Over a list, `result` is the list of what each item set. Write `output: {0}` for that list, or `{{ result | map(attribute="{1}") | list }}`.',
            key,
            read.slice(1).join('.'),
          ),
        );
    }
    if (item === index) this.add([...path, 'index'], message('The item has the same name, `{0}`.', item));
    for (const [position, step] of (node.steps ?? []).entries())
      for (const key of stateKeysSetByStep(step))
        if (key === item || key === index)
          this.add(
            [...path, 'steps', position],
            message('`{0}` is reserved for the item. Give this another name.', key),
          );
  }

  private agent(agent: NonNullable<NodeDefinition['agent']>, path: YamlPath): void {
    const { agents } = this.known;
    if (typeof agent !== 'string') this.tools(agent.tools, [...path, 'tools']);
    else if (agents && !agents.includes(agent))
      this.add(
        path,
        appendHint(message('There is no agent `{0}` in `.towpath/agents`.', agent), didYouMeanHint(agent, agents)),
      );
  }

  private step(step: WorkflowStep, path: YamlPath): void {
    if (step.run) this.expression(step.run.value, [...path, 'run', 'value']);
    if (step.uses === undefined) {
      if (step.with) this.add([...path, 'with'], message('`with` requires `uses`.'), 'key');
    } else {
      this.action(step.uses, [...path, 'uses']);
      if (step.uses === nestedWorkflowActionName) this.nested(step.with?.workflow, [...path, 'with', 'workflow']);
      this.parameters(step.uses, step.with ?? {}, path);
    }
    this.templates(step.with, [...path, 'with']);
    if (typeof step.output === 'object') this.templates(step.output, [...path, 'output']);
  }

  /** Validates a nested workflow, whose name must be a constant. */
  private nested(name: unknown, path: YamlPath): void {
    const { workflows } = this.known;
    if (typeof name !== 'string') return;
    if (/\{[{%]|\$\{/.test(name)) this.add(path, message('`workflow` is the name of a file, not a template.'));
    else if (workflows && !workflows.includes(name))
      this.add(
        path,
        appendHint(
          message('There is no workflow `{0}` in `.towpath/workflows`.', name),
          didYouMeanHint(name, workflows),
        ),
      );
  }

  private action(name: string, path: YamlPath): void {
    const names = [...builtInWorkflowActionNames, ...this.known.tools];
    if (names.includes(name) || isElsewhere(name)) return;
    const second = /^actions\.(.+)/.exec(name)?.[1];
    const near = didYouMeanHint(second ?? name, [...suggestedWorkflowActionNames, ...this.known.tools]);
    const absent = second && near ? undefined : unsupportedActionMessage(name);
    this.add(path, appendHint(message('There is no action `{0}`.', name), absent ?? near));
  }

  private parameters(action: string, given: Record<string, unknown>, path: YamlPath): void {
    const shape = workflowActionParameters(action);
    if (!shape) return;
    const here = [...path, 'with'];
    this.takes(action, given, here);
    for (const key of Object.keys(shape)) {
      const value = given[key];
      if (value === undefined) {
        if (!shape[key]!.safeParse(undefined).success)
          this.add([...path, 'uses'], message('{0} needs `{1}`.', action, key));
        continue;
      }
      if (/\{[{%]/.test(JSON.stringify(value))) continue;
      const issues = shape[key]!.safeParse(value).error?.issues ?? [];
      this.problems.push(
        ...issues.slice(0, 3).flatMap((issue) => schemaIssueToYamlProblems(issue, this.yaml, [...here, key])),
      );
    }
    if (action === 'shell.run') this.command(given.command, [...here, 'command']);
    const temperature = given.temperature ?? this.file.settings.llm?.temperature;
    if (given.cache === true && typeof temperature === 'number' && temperature > 0)
      this.warn(
        [...here, 'cache'],
        message('`cache` answers calls at temperature 0. At {0} each call is sent and paid for.', String(temperature)),
      );
    if (!Array.isArray(given.tools)) return;
    this.distinct(given.tools, [...here, 'tools']);
    for (const [index, tool] of given.tools.entries()) {
      const spec = toolSpecSchema.safeParse(tool).data;
      if (typeof tool === 'string' && !tool.includes('{{')) this.tools([tool], [...here, 'tools']);
      else if (spec) this.toolSpec(spec, [...here, 'tools', index]);
    }
  }

  private command(command: unknown, path: YamlPath): void {
    const quoting = quoteFilterProblem(command);
    if (quoting) this.add(path, quoting);
    const unquoted = quoting
      ? undefined
      : findUnquotedExpression(command, (read) => isShellSafeVariable(this.file, read));
    if (unquoted !== undefined)
      this.warn(
        path,
        message(
          'The value of `{0}` becomes part of the command and could run another one. Write `{{ {1} | quote }}` without quotes around it, or write the command as a list of words.',
          unquoted.slice(0, longestExpression),
          addQuoteFilter(unquoted).slice(0, longestExpression),
        ),
      );
  }

  /** Rejects names that are equal on the wire, where `.` becomes `_`. */
  private distinct(list: readonly unknown[], path: YamlPath): void {
    const holders = new Map<string, string>();
    for (const [index, item] of list.entries()) {
      const spec = toolSpecSchema.safeParse(item).data;
      const location = spec ? [...path, index, 'name'] : [...path, index];
      const names = spec ? [spec.name] : typeof item === 'string' ? this.covered(item) : [];
      for (const name of names) {
        const holder = holders.get(toWireToolName(name));
        if (holder !== undefined && (spec || item === name)) this.add(location, twice(name, holder));
        else holders.set(toWireToolName(name), name);
      }
    }
  }

  private covered(pattern: string): string[] {
    const names = [...this.file.tools.map(({ name }) => name), ...this.known.tools];
    return pattern.endsWith('*') ? names.filter((name) => matchesToolPattern(pattern, name)) : [pattern];
  }

  private takes(action: string, given: Record<string, unknown>, path: YamlPath): void {
    const shape = workflowActionParameters(action);
    if (!shape) return;
    const names = Object.keys(shape);
    const missing = names.filter((name) => !(name in given) && !shape[name]!.safeParse(undefined).success);
    // `cmd` is more likely an abbreviation of a required name than a misspelling of another name
    const near = (key: string) => {
      const full = missing.find((name) => isAbbreviation(key, name));
      return full ? message('Did you mean {0}?', `"${full}"`) : didYouMeanHint(key, names);
    };
    for (const key of Object.keys(given))
      if (!names.includes(key))
        this.add([...path, key], appendHint(message('{0} takes no `{1}`.', action, key), near(key)), 'key');
  }

  private toolSpec(tool: ToolSpec, path: YamlPath): void {
    const { action, parameters, with: given = {} } = tool;
    const problem = invalidSchemaReason(toolSpecToDefinition(tool).parameters);
    if (problem) this.add([...path, 'parameters'], problem);
    this.action(action, [...path, 'action']);
    if (action === nestedWorkflowActionName)
      this.add(
        [...path, 'action'],
        message('`{0}` is a step of a workflow, not a tool for models.', nestedWorkflowActionName),
      );
    this.templates(given, [...path, 'with']);
    if (action === 'shell.run') this.command(given.command, [...path, 'with', 'command']);
    this.takes(action, parameters, [...path, 'parameters']);
    this.takes(action, given, [...path, 'with']);
    for (const [key, one] of Object.entries(workflowActionParameters(action) ?? {}))
      if (this.whole && !(key in parameters) && !(key in given) && !one.safeParse(undefined).success)
        this.add(
          [...path, 'action'],
          message('{0} needs `{1}`, which this tool has neither as an argument nor in `with`.', action, key),
        );
  }

  private edge(index: number): void {
    const edge = this.file.edges[index]!;
    const path = ['edges', index];
    if (edge.from === undefined && edge.type !== 'entry') this.add(path, message('An edge needs `from`.'));
    else if (edge.from !== undefined && edge.from !== startNodeName) this.nodeName(edge.from, [...path, 'from']);
    this.target(edge.to, [...path, 'to']);
    if (typeof edge.when === 'string') this.expression(edge.when, [...path, 'when']);
    const { condition } = edge;
    if (typeof condition === 'string') this.expression(condition, [...path, 'condition']);
    else if (condition) this.expression(condition.value, [...path, 'condition', 'value']);
    if (!isParallelEdge(edge)) {
      if (edge.fan_in !== undefined)
        this.add([...path, 'fan_in'], message('`fan_in` requires `type: parallel`.'), 'key');
      return;
    }
    if (edge.fan_in === undefined)
      this.add(path, message('A parallel edge needs `fan_in`, the node where the branches end.'));
    else this.nodeName(edge.fan_in, [...path, 'fan_in']);
    if (edge.when !== undefined || condition !== undefined)
      this.add(path, message('A parallel edge cannot have a condition.'));
    if (edge.from === undefined || edge.from === startNodeName)
      this.add(path, message('A workflow starts with one node. Let the branches follow it.'));
    const siblings = edgesFrom(this.file, edge.from ?? startNodeName);
    if (siblings.some((one) => !isParallelEdge(one)))
      this.add(path, message('All edges of one node are parallel, or none is.'));
    if (siblings.some((one) => one.fan_in !== edge.fan_in))
      this.add(path, message('Branches of one node end at one `fan_in`.'));
  }

  private target(name: string, path: YamlPath): void {
    if (name !== endNodeName) this.nodeName(name, path);
  }

  private nodeName(name: string, path: YamlPath): void {
    const { names } = this;
    if (names.includes(name)) return;
    const end = /^(end|finish)$/i.test(name)
      ? message('Use `{0}` for the end.', endNodeName)
      : didYouMeanHint(name, names);
    this.add(path, appendHint(message('There is no node `{0}`.', name), end));
  }

  private expression(text: string | boolean | undefined, path: YamlPath): void {
    const problem = typeof text === 'string' ? expressionProblem(text) : undefined;
    if (problem) this.add(path, problem);
  }

  private template(text: string, path: YamlPath): void {
    const problem = templateProblem(text);
    if (problem) this.add(path, problem);
  }

  private templates(value: unknown, path: YamlPath): void {
    if (typeof value === 'string') this.template(value, path);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value))
      this.templates(item, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

const longestExpression = 80;

const isOfResult = ([first, key]: TemplateVariablePath): boolean =>
  (first === 'result' || first === 'action_result') && key !== undefined && !/^\d+$/.test(key);

/** Returns true if the short name starts equally and is a subsequence of the full name. */
const isAbbreviation = (short: string, full: string): boolean =>
  short.length > 1 &&
  short[0] === full[0] &&
  [...full].reduce((at, letter) => at + (letter === short[at] ? 1 : 0), 0) === short.length;

const twice = (name: string, other: string): LocalizedMessage =>
  name === other
    ? message('Two tools are named `{0}`.', name)
    : message('Two tools are named `{0}`: models see both as `{1}`.', name, other);

/** Returns true for tools of MCP servers and the editor, whose availability is known only at run time. */
const isElsewhere = (name: string) => /^(mcp|vscode)[._]/.test(name);

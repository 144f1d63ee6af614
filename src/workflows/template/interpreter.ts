import { Environment, Interpreter, type parse } from '@huggingface/jinja';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { type LocalizableText, UserFacingError } from '../../protocol/text/localized.ts';
import { fitText } from '../../protocol/text/shorten.ts';
import {
  areTemplateValuesEqual,
  extraTemplateFilters,
  extraTemplateTests,
  type TemplateFilterInput,
} from './filters.ts';
import { identifierName, TemplateError, type TemplateNode, templateFunctions } from './language.ts';
import {
  isEmptyTemplateValue,
  isTemplateList,
  isTemplateMap,
  isUndefinedTemplateValue,
  type TemplateValue,
  templateValueKind,
  toTemplateValue,
} from './values.ts';

type Statement = ReturnType<typeof parse>['body'][number];

/** Maximum evaluation steps. The evaluation is synchronous and cannot be aborted. */
export const maxTemplateSteps = 300_000;
/** Maximum milliseconds, also for a busy machine; ordinary templates need a few. */
const maxMs = 1000;
const longestText = 5_000_000;

class Reason extends UserFacingError {}
class MissingError extends Reason {}

/**
 * Jinja interpreter with our filters, tests and limits. Strict: access to a member of a missing value is an error with its name, as in the
 * dialect. Values of the scope are converted when the template uses them.
 */
export class TemplateInterpreter extends Interpreter {
  private steps = 0;
  private readonly startedAt = performance.now();
  private readonly values: Readonly<Record<string, unknown>>;

  /** @param warn receives a warning about a missing map key that evaluates to nothing */
  constructor(
    scope: Readonly<Record<string, unknown>>,
    private readonly warn: (warning: LocalizableText) => void = () => {},
  ) {
    super(new Environment());
    this.values = { ...templateFunctions, ...scope, ...constants };
  }

  override evaluate(...[statement, environment]: Parameters<Interpreter['evaluate']>): TemplateValue {
    let result: TemplateValue;
    try {
      // a filter of the interpreter returns nothing for an empty list
      result =
        this.own(statement as TemplateNode, environment) ??
        super.evaluate(statement, environment) ??
        toTemplateValue(undefined);
    } catch (error) {
      throw this.explain(error, statement as TemplateNode, environment);
    }
    this.count(1 + (isTemplateList(result) ? (result.value as unknown[]).length : 0)); // lists may be iterated
    if (typeof result.value === 'string' && result.value.length > longestText)
      throw new TemplateError(message('This template creates a text of more than {0} characters.', longestText));
    if (isUndefinedTemplateValue(result) && (statement as TemplateNode | undefined)?.type === 'MemberExpression')
      this.checkMember(statement as TemplateNode, environment);
    return result;
  }

  private count(steps: number): void {
    this.steps += steps;
    if (this.steps > maxTemplateSteps)
      throw new TemplateError(message('This template takes more than {0} steps.', maxTemplateSteps));
    if (performance.now() - this.startedAt > maxMs)
      throw new TemplateError(message('This template takes more than {0} s.', maxMs / 1000));
  }

  /** Evaluates nodes with own semantics; undefined leaves the node to the interpreter. */
  private own(node: TemplateNode | undefined, environment: Environment): TemplateValue | undefined {
    if (node?.type === 'Identifier') this.declare(String(node.value));
    if (node?.type === 'BinaryExpression' && ['==', '!='].includes(node.operator!.value)) {
      const [left, right] = [this.at(node.left, environment), this.at(node.right, environment)];
      return toTemplateValue(areTemplateValuesEqual(left, right) === (node.operator!.value === '=='));
    }
    const tolerant =
      node?.type === 'TestExpression'
        ? ['defined', 'undefined'].includes(String(node.test?.value))
        : node?.type === 'FilterExpression' && identifierName(node.filter) === 'default';
    if (!tolerant) return undefined;
    try {
      return super.evaluate(node as Statement, environment);
    } catch (error) {
      if (!(error instanceof MissingError)) throw error;
      return super.evaluate(
        { ...node, operand: { type: 'Identifier', value: 'what is missing' } } as unknown as Statement,
        environment,
      );
    }
  }

  private at(node: TemplateNode | undefined, environment: Environment): TemplateValue {
    return this.evaluate(node as Statement | undefined, environment);
  }

  private checkMember(node: TemplateNode, environment: Environment): void {
    const object = this.at(node.object, environment);
    const name = identifierName(node.object);
    const key = !node.computed || node.property?.type === 'StringLiteral' ? String(node.property?.value) : undefined;
    const sought = key === undefined ? message('it cannot be searched') : message('no `{0}` of it', key);
    if (isUndefinedTemplateValue(object))
      throw new MissingError(
        name === undefined
          ? message('the value to search in does not exist, so {0}', sought)
          : message('there is no `{0}`, so {1}', name, sought),
      );
    if (isEmptyTemplateValue(object))
      throw new MissingError(
        name === undefined
          ? message('the value to search in is nothing (null), so {0}', sought)
          : message('`{0}` is nothing (null), so {1}', name, sought),
      );
    if (!node.printed || name === undefined || ['state', 'variables'].includes(name)) return; // names that no step sets are reported when the file is loaded
    const keys = isTemplateMap(object)
      ? [...(object.value as Map<string, TemplateValue>).keys()].filter((one) => one !== key)
      : [];
    const whole = identifierName(node) ?? name;
    const only = keys.length > 0 ? shortList(keys) : undefined;
    this.warn(key === undefined ? emptyAtAny(whole, name, only) : emptyAt(whole, name, key, only));
  }

  private explain(error: unknown, node: TemplateNode | undefined, environment: Environment): unknown {
    // stack overflows are handled by an outer frame; an error without a message is the control flow of loops
    if (
      error instanceof TemplateError ||
      error instanceof Reason ||
      !(error instanceof Error) ||
      error.message === '' ||
      error instanceof RangeError
    )
      return error;
    const parts = node?.callee?.value?.startsWith('filter:')
      ? node.args!.slice(0, 1)
      : [
          node?.left,
          node?.right,
          node?.operand,
          ...(node?.args ?? []),
          node?.type === 'For' ? node.iterable : undefined,
          node?.callee?.type === 'Identifier' ? node.callee : undefined,
        ];
    const operands = parts.flatMap((part) => (part ? [{ part, value: this.quietly(part, environment) }] : []));
    for (const { part, value } of operands)
      if (value && isEmptyTemplateValue(value)) {
        const name = identifierName(part);
        if (name)
          return new Reason(
            message(isUndefinedTemplateValue(value) ? 'there is no `{0}`' : '`{0}` is nothing (null)', name),
          );
      }
    const [first, second] = operands.map(({ value }) => value && templateValueKind(value));
    if (node?.type === 'BinaryExpression' && first && second)
      return new Reason(message('`{0}` cannot be combined with {1} and {2}', node.operator!.value, first, second));
    if (node?.type === 'FilterExpression' && first)
      return new Reason(
        message('the filter `{0}` does not take {1} in this form', String(identifierName(node.filter)), first),
      );
    return error;
  }

  private quietly(node: TemplateNode, environment: Environment): TemplateValue | undefined {
    try {
      return this.at(node, environment);
    } catch {
      return undefined;
    }
  }

  private given(args: TemplateValue[], environment: Environment): TemplateFilterInput {
    const named = args.at(-1)?.type === 'KeywordArgumentsValue' ? args.pop()! : undefined;
    return {
      args,
      named: (named?.value ?? new Map()) as Map<string, TemplateValue>,
      filter: (name, value, args) => {
        this.count(1);
        const own = Object.hasOwn(extraTemplateFilters, name) ? extraTemplateFilters[name] : undefined;
        if (own) return own(value, this.given([...args], environment));
        const within = new Environment(environment);
        const names = [value, ...args].map((one, index) => {
          within.setVariable(`given:${index}`, one);
          return { type: 'Identifier', value: `given:${index}` };
        });
        const callee = { type: 'Identifier', value: name };
        const filter = args.length > 0 ? { type: 'CallExpression', callee, args: names.slice(1) } : callee;
        return this.at({ type: 'FilterExpression', operand: names[0], filter } as unknown as TemplateNode, within);
      },
      test: (name, value, args) => {
        this.count(1 + args.reduce((sum, one) => sum + (isTemplateList(one) ? (one.value as unknown[]).length : 0), 0));
        const own = Object.hasOwn(extraTemplateTests, name) ? extraTemplateTests[name] : undefined;
        if (own) return own(value, args[0] ?? toTemplateValue(undefined));
        const test = this.global.tests.get(name);
        if (!test) throw new UserFacingError(message('there is no test `{0}`', name));
        return test(value);
      },
    };
  }

  /** Declares a name of the scope, or a filter or test of ours, unless the template has set it. */
  private declare(name: string): void {
    if (this.global.variables.has(name)) return;
    if (name !== 'namespace' && Object.hasOwn(this.values, name)) this.global.set(name, this.values[name]);
    const [, kind, own = ''] = /^(filter|test):(.+)$/.exec(name) ?? [];
    if (kind === 'filter' && Object.hasOwn(extraTemplateFilters, own)) {
      const run = extraTemplateFilters[own]!;
      this.define(name, ([value, ...args], environment) => run(value!, this.given(args, environment)));
    }
    if (kind === 'test' && Object.hasOwn(extraTemplateTests, own)) {
      const run = extraTemplateTests[own]!;
      this.define(name, ([value, other]) => toTemplateValue(run(value!, other ?? toTemplateValue(undefined))));
    }
  }

  private define(name: string, run: (args: TemplateValue[], environment: Environment) => TemplateValue): void {
    const held = this.global.set(name, () => null);
    (held as { value: unknown }).value = run;
  }
}

const emptyAt = (whole: string, name: string, key: string, only: string | undefined): LocalizedMessage =>
  only === undefined
    ? message('`{0}` is empty: `{1}` has no `{2}`.', whole, name, key)
    : message('`{0}` is empty: `{1}` has no `{2}`, only {3}.', whole, name, key, only);

const emptyAtAny = (whole: string, name: string, only: string | undefined): LocalizedMessage =>
  only === undefined
    ? message('`{0}` is empty: `{1}` has no such key.', whole, name)
    : message('`{0}` is empty: `{1}` has no such key, only {2}.', whole, name, only);

const constants = { true: true, false: false, none: null, True: true, False: false, None: null };

function shortList(keys: readonly string[]): string {
  const shown = keys.slice(0, 8).map((key) => `\`${fitText(key, 40)}\``);
  return shown.join(', ') + (keys.length > shown.length ? ', …' : '');
}

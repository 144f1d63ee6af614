import { isDeepStrictEqual } from 'node:util';
import type { StopPoint } from '../../engine/core/abortReason.ts';
import {
  childWorkflowTrackKey,
  keyOfForEachItem,
  parallelResultsKey,
  workflowTrackOfBranch,
} from '../../protocol/run/graph.ts';
import { message } from '../../protocol/text/l10n.ts';
import {
  type LocalizableText,
  storedLocalizableText,
  toErrorInfo,
  UserFacingError,
} from '../../protocol/text/localized.ts';
import { createConcurrencyLimiter } from '../../protocol/values/concurrency.ts';
import { WorkflowActionError } from '../action/action.ts';
import { endNodeName } from '../plan/navigate.ts';
import type { NodeDefinition } from '../plan/schema.ts';
import { evaluateTemplateExpression, renderTemplatesDeep, type TemplateScope } from '../template/template.ts';
import { normalizeStateValues } from './jsonState.ts';
import { isExcludedFromErrorPolicy, mergeStopPoints } from './retry.ts';
import { type NodeResult, type NodeRunOptions, nodeTemplateScope, stepOutputValues } from './runNode.ts';

export interface ForEachItem {
  node: NodeDefinition;
  branch: string;
  given: Record<string, unknown>;
  of: number;
  /** True if the position contained another item before. */
  anew: boolean;
}

export const maxForEachItems = 1000;
export const defaultConcurrency = 8;

/**
 * Runs a node for each item of a list, on separate tracks; finished items are not repeated. A failed item does not stop the others;
 * afterwards the node fails and can resume with the remaining items.
 */
export async function runNodeForEachItem(
  work: NodeRunOptions,
  visit: (item: ForEachItem) => Promise<StopPoint | undefined>,
): Promise<NodeResult> {
  const { node, context, position } = work;
  const { item = 'item', index: at = 'index', max_workers = work.file.settings.parallel?.max_workers } = node;
  const list = listOf(node, nodeTemplateScope(work));
  const atOnce = createConcurrencyLimiter(max_workers ?? defaultConcurrency);
  const track = (index: number) =>
    workflowTrackOfBranch(
      context.run.graph!,
      childWorkflowTrackKey(position.branch, keyOfForEachItem(node.name, index)),
    );
  let isOver = false;
  const settled = await Promise.allSettled(
    list.map((value, index) =>
      atOnce(async () => {
        const before = track(index);
        const isSame =
          before !== undefined && isDeepStrictEqual(before.state[item], normalizeStateValues({ value }).value);
        if (isOver || (isSame && before.at.length === 0)) return undefined;
        const stop = await visit({
          node: itemNode(node, index),
          branch: childWorkflowTrackKey(position.branch, keyOfForEachItem(node.name, index)),
          given: normalizeStateValues({ [item]: value, [at]: index }),
          of: list.length,
          anew: before !== undefined && !isSame,
        });
        if (
          node.fail_fast &&
          (stop?.phase === 'Failed' || failureOf(track(index)?.state, keyOfForEachItem(node.name, index)))
        )
          isOver = true;
        return stop;
      }),
    ),
  );
  const broken = settled.find((one) => one.status === 'rejected');
  if (broken) throw broken.reason;
  const stops = settled.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []));
  const failed = stops.filter(({ phase }) => phase === 'Failed');
  if (failed[0]) throw new WorkflowActionError(sumOf(failed, list.length));
  if (stops[0]) return { stop: stops[0] };
  const states = list.map(
    (value, index) => track(index)?.state ?? { [item]: value, [at]: index, error: notBegun(node, index) },
  );
  const results = node.type === 'dynamic_parallel' ? states.map((state, index) => wrapped(node, state, index)) : states;
  return { state: stepOutputValues(work, results, node.output ?? parallelResultsKey) };
}

function listOf({ foreach, type }: NodeDefinition, scope: TemplateScope): readonly unknown[] {
  const list =
    typeof foreach === 'string' ? evaluateTemplateExpression(foreach, scope) : renderTemplatesDeep(foreach, scope);
  if ((list === null || list === undefined) && type === 'dynamic_parallel') return []; // the dialect treats an absent list as empty
  if (!Array.isArray(list)) {
    throw new UserFacingError(message('`foreach` needs a list, but this is {0}.', kindOf(list)));
  }
  if (list.length > maxForEachItems)
    throw new UserFacingError(
      message('`foreach` takes at most {0} items, but this list has {1}.', maxForEachItems, list.length),
    );
  return list;
}

const kinds = { string: 'a text', number: 'a number', boolean: 'a boolean', object: 'an object' } as const;

function kindOf(value: unknown): LocalizableText {
  if (value === null || value === undefined) return message('nothing');
  const kind = typeof value;
  return Object.hasOwn(kinds, kind) ? message(kinds[kind as keyof typeof kinds]) : `a ${kind}`;
}

function itemNode({ foreach: _, output: __, on_error: rule, ...node }: NodeDefinition, index: number): NodeDefinition {
  const { goto: ___, ...own } = rule ?? {};
  const result = node.agent === undefined ? {} : { output: { content: '{{ result.content }}' } };
  return {
    ...node,
    ...result,
    ...(rule && { on_error: own }),
    name: keyOfForEachItem(node.name, index),
    goto: endNodeName,
  };
}

const notBegun = ({ name }: NodeDefinition, index: number) => ({
  node: keyOfForEachItem(name, index),
  code: 'NOT_BEGUN',
  message: 'Another one failed before it was begun.',
});

function failureOf(state: Record<string, unknown> | undefined, item: string): { message: string } | undefined {
  const { error } = state ?? {};
  return (Object(error) as { node?: unknown }).node === item ? (error as { message: string }) : undefined;
}

function sumOf(failed: readonly StopPoint[], of: number) {
  const worst = mergeStopPoints(failed.filter(({ error }) => isExcludedFromErrorPolicy(error?.code))) ?? failed[0]!;
  const { code, ...error } = worst.error ?? { code: 'UNKNOWN', message: '' };
  return { code, ...toErrorInfo(message('{0} of {1} failed. {2}', failed.length, of, storedLocalizableText(error))) };
}

/** Formats a result like the hosts of the dialect: `docs/shared/yaml-reference/nodes.md`, "Result format", and `ParallelFlowResult`. */
function wrapped({ name }: NodeDefinition, state: Record<string, unknown>, index: number) {
  const branch = keyOfForEachItem(name, index);
  const { message: error = null } = failureOf(state, branch) ?? {};
  const { error: _, ...rest } = state;
  return { branch, source_node: name, index, success: error === null, error, state: error === null ? state : rest };
}

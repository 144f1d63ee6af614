/**
 * A script as an automaton over tokens. The state is the newest *marker* in the conversation: a keyword of the user's message, a piece of a
 * tool result, or arguments written by the model, so that "after the second call" is a separate state. A rule maps state and current token
 * to the next token.
 */

export interface DemoAutomatonScript {
  name: string;
  contextLength?: number;
  scenarios: readonly DemoScenario[];
}

interface DemoScenario {
  /** Texts that start the scenario: `userMessageMarker`, or text of a message or tool result (formatted by `spacedJsonText`). */
  on: string | readonly string[];
  steps: readonly DemoScriptStep[];
}

export interface DemoScriptStep {
  think?: string;
  text?: string;
  calls?: readonly ScriptedCall[];
  loop?: readonly string[];
}

/**
 * A scripted call. `args` must list every property of the tool's schema in order, `null` for omitted properties. Two steps must not be
 * equal. A string is written verbatim.
 */
export interface ScriptedCall {
  name: string;
  args: Record<string, unknown> | string;
}

/** Longest conversation, in tokens, in which the newest marker is reliably found. */
export const demoContextTokens = 8192;

const assistantStart = 'assistant\n';
/** Head of every user message; any other marker in the message is newer and wins. */
export const userMessageMarker = 'user\n';
export const endOfTurnToken = '<|im_end|>';
const callOpen = '<tool_call>';
const callName = '\n{"name": "';
const callArguments = '", "arguments": ';
const callEnd = '}\n';
const callClose = '</tool_call>';
const thinkOpen = '<think>';
const thinkClose = '\n</think>';
const newline = byteToken(0x0a);
const structure = ['\n<tool_response>\n', '\n</tool_response>', '</think>'];

export interface TokenAutomaton {
  tokens: Set<string>;
  markers: Map<string, string>;
  rules: Map<string, Map<string, string>>;
}

/** Converts a script. Throws if two scenarios share a marker, or if one state would need two different next tokens. */
export function toTokenAutomaton(script: DemoAutomatonScript): TokenAutomaton {
  const tokens = new Set(structure);
  const markers = new Map<string, string>();
  const rules = new Map<string, Map<string, string>>();

  const addMarker = (token: string, state: string) => {
    if (markers.has(token)) throw new Error(`Two places of the script begin with ${JSON.stringify(token)}.`);
    markers.set(token, state);
    tokens.add(token);
  };
  const addRule = (state: string, current: string, next: string) => {
    const ofState = rules.get(state) ?? new Map<string, string>();
    rules.set(state, ofState);
    const known = ofState.get(current);
    if (known !== undefined && known !== next)
      throw new Error(`After ${JSON.stringify(current)} comes ${JSON.stringify(known)} or ${JSON.stringify(next)}?`);
    ofState.set(current, next);
    for (const token of [current, next]) if (!isByteToken(token) && token !== endOfTurnToken) tokens.add(token);
  };

  script.scenarios.forEach((scenario, scenarioIndex) => {
    let state = `${scenarioIndex}`;
    for (const marker of [scenario.on].flat()) addMarker(marker, state);
    let current = assistantStart;
    const go = (...path: string[]) => {
      for (const next of path) {
        addRule(state, current, next);
        current = next;
      }
    };
    for (const [stepIndex, step] of scenario.steps.entries()) {
      current = assistantStart;
      if (step.think !== undefined) go(thinkOpen, newline, ...phrases(step.think), thinkClose);
      if (step.text !== undefined) go(...phrases(step.text));
      if (step.loop) {
        go(...step.loop, step.loop[0]!);
        return;
      }
      for (const [callIndex, call] of (step.calls ?? []).entries()) {
        const args = typeof call.args === 'string' ? call.args : spacedJsonText(call.args);
        if (callIndex > 0) go(newline);
        go(callOpen, callName, call.name, callArguments, args);
        state = `${scenarioIndex}.${stepIndex}.${callIndex}`;
        addMarker(args, state);
        go(callEnd, callClose);
      }
      go(endOfTurnToken);
    }
  });
  return { tokens, markers, rules };
}

export function spacedJsonText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJsonText).join(', ')}]`;
  if (value && typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}: ${spacedJsonText(item)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
}

export function byteToken(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
}

function isByteToken(token: string): boolean {
  return /^<0x[0-9A-F]{2}>$/.test(token);
}

function phrases(text: string): string[] {
  const pieces = text.match(/\s*\S+\s*$|\s*\S+/g) ?? [text];
  return Array.from({ length: Math.ceil(pieces.length / 3) }, (_, index) =>
    pieces.slice(index * 3, index * 3 + 3).join(''),
  );
}

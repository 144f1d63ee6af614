/**
 * A script as an automaton over tokens. Its state is the newest *marker* in the conversation: a keyword of the user's
 * message, a piece of a tool's result, or the arguments which the model itself wrote, so that "what comes after the
 * second call" is a state of its own. A rule says which token follows the current one in a state.
 */

export interface DemoAutomatonScript {
  name: string;
  /** Tokens the model says it was trained for. The states can be told apart up to `maxContext`. */
  contextLength?: number;
  scenarios: readonly Scenario[];
}

export interface Scenario {
  /** The texts that begin it: `anyUserMessage`, or text of a message or of a tool's result (as `jsonText` prints it). */
  on: string | readonly string[];
  steps: readonly AutomatonStep[];
}

/** One assistant message. After its calls the results arrive and the next step begins. */
export interface AutomatonStep {
  think?: string;
  text?: string;
  calls?: readonly ScriptedCall[];
  /** Endless text: these pieces in turn. Nothing can follow. */
  loop?: readonly string[];
}

/**
 * `args` must name every property of the tool's schema, in its order, `null` for what is left out; no two steps alike.
 * A string is written as it is.
 */
export interface ScriptedCall {
  name: string;
  args: Record<string, unknown> | string;
}

/** The longest conversation, in tokens, in which the newest marker is surely found. */
export const maxContext = 8192;

const assistantStart = 'assistant\n';
/** The head of every user message; any other marker in the message is newer and wins. */
export const anyUserMessage = 'user\n';
export const endOfTurn = '<|im_end|>';
const callOpen = '<tool_call>';
const callName = '\n{"name": "';
const callArguments = '", "arguments": ';
const callEnd = '}\n';
const callClose = '</tool_call>';
const thinkOpen = '<think>';
const thinkClose = '\n</think>';
const newline = byteToken(0x0a);
/** Whole tokens also where no rule names them; the head of a tool result takes its newline, so it is no `user\n`. */
const structure = ['\n<tool_response>\n', '\n</tool_response>', '</think>'];

export interface Automaton {
  /** Tokens with a text of their own, besides bytes and word pieces. */
  tokens: Set<string>;
  /** Marker token → the state it begins. */
  markers: Map<string, string>;
  /** State → current token → next token. */
  rules: Map<string, Map<string, string>>;
}

/** Throws when two scenarios share a marker, or when one state would need two different next tokens. */
export function toAutomaton(script: DemoAutomatonScript): Automaton {
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
    for (const token of [current, next]) if (!isByteToken(token) && token !== endOfTurn) tokens.add(token);
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
        const args = typeof call.args === 'string' ? call.args : jsonText(call.args);
        if (callIndex > 0) go(newline);
        go(callOpen, callName, call.name, callArguments, args);
        state = `${scenarioIndex}.${stepIndex}.${callIndex}`;
        addMarker(args, state);
        go(callEnd, callClose);
      }
      go(endOfTurn);
    }
  });
  return { tokens, markers, rules };
}

/** JSON with a space after each colon and comma: how chat templates and the call grammar print it. */
export function jsonText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(', ')}]`;
  if (value && typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}: ${jsonText(item)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
}

export function byteToken(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
}

function isByteToken(token: string): boolean {
  return /^<0x[0-9A-F]{2}>$/.test(token);
}

/** Three words a token: few tokens, few rules, and a text repeats a token (which would be ambiguous) only rarely. */
function phrases(text: string): string[] {
  const words = text.match(/\s*\S+\s*$|\s*\S+/g) ?? [text];
  return Array.from({ length: Math.ceil(words.length / 3) }, (_, index) =>
    words.slice(index * 3, index * 3 + 3).join(''),
  );
}

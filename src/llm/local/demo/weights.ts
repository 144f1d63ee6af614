import { byteToken, demoContextTokens, endOfTurnToken, type TokenAutomaton, userMessageMarker } from './automaton.ts';
import type { Tensor } from './gguf.ts';

const headWidth = 128;
/** Rotation period in tokens: the rotary embedding turns a key by `distance / ropeSpan` radians, the same for all pairs. */
const ropeSpan = 1.5 * demoContextTokens;
/** Tokens by which `user\n` counts as older, so that a keyword directly after `user\n` wins. */
const headStart = 8;
/**
 * Largest attention score. A marker scores −strength·sin(distance/ropeSpan), any other token −strength·cos(…), so the newest marker wins
 * (by strength/ropeSpan per token) if the conversation is shorter than ropeSpan·π/4. A larger value separates markers better, but overflows
 * in half-precision sums (ARM).
 */
const strength = 32_768;

interface DemoNetwork {
  embeddingLength: number;
  headCount: number;
  headWidth: number;
  feedForwardLength: number;
  ropeSpan: number;
  tensors: Tensor[];
}

/**
 * Converts the automaton to the weights of a one-layer transformer. Each scripted token has one dimension (all others share one), and each
 * state too. The attention head copies the newest marker's state into the stream. The feed-forward layer has one unit per rule: the unit
 * fires on (state, current token) and writes the next token.
 */
export function toDemoNetwork(automaton: TokenAutomaton, vocabulary: readonly string[]): DemoNetwork {
  const { markers, rules } = automaton;
  const scripted = new Set([...fallbacks.keys(), ...markers.keys()]);
  for (const ofState of rules.values()) for (const pair of ofState) for (const token of pair) scripted.add(token);
  const dimensionOf = new Map([...scripted].map((token, index) => [token, index]));
  const other = scripted.size;
  const bias = other + 1;
  const firstState = bias + 1;
  const states = [...new Set(markers.values())];
  if (states.length > headWidth) throw new Error(`The script has ${states.length} states; ${headWidth} is the most.`);
  const stateIndex = new Map(states.map((state, index) => [state, index]));

  const width = Math.ceil((firstState + states.length) / headWidth) * headWidth;
  const ruleCount = [...rules.values()].reduce((sum, ofState) => sum + ofState.size, 0);
  const units = Math.ceil((ruleCount + 1) / 64) * 64;
  // Values of an entry 1 after normalization: among two ones (embedding), and among three ones (with the state).
  const afterFirstNorm = Math.sqrt(width / 2);
  const afterSecondNorm = Math.sqrt(width / 3);

  const embedding = new Float32Array(vocabulary.length * width);
  vocabulary.forEach((token, row) => {
    embedding[row * width + (dimensionOf.get(token) ?? other)] = 1;
    embedding[row * width + bias] = 1;
  });

  const queryBias = new Float32Array(width);
  const key = new Float32Array(headWidth * width);
  const value = new Float32Array(headWidth * width);
  const output = new Float32Array(width * width);
  const pairs = headWidth / 2;
  const amplitude = Math.sqrt((strength * Math.sqrt(headWidth)) / pairs);
  for (let pair = 0; pair < pairs; pair++) {
    const start = (2 * Math.PI * pair) / pairs + 0.1; // different angles average the rounding of cached keys
    queryBias[pair] = amplitude * Math.cos(start + Math.PI / 2);
    queryBias[pair + pairs] = amplitude * Math.sin(start + Math.PI / 2);
    for (const [token, dimension] of [...dimensionOf, ['', other] as const]) {
      const age = token === userMessageMarker ? headStart / ropeSpan : 0;
      const angle = markers.has(token) ? start - age : start - Math.PI / 2;
      key[pair * width + dimension] = (amplitude * Math.cos(angle)) / afterFirstNorm;
      key[(pair + pairs) * width + dimension] = (amplitude * Math.sin(angle)) / afterFirstNorm;
    }
  }
  for (const [token, state] of markers)
    value[stateIndex.get(state)! * width + dimensionOf.get(token)!] = 1 / afterFirstNorm;
  for (let index = 0; index < states.length; index++) output[(firstState + index) * width + index] = 1;

  const gate = new Float32Array(units * width);
  const up = new Float32Array(units * width);
  const down = new Float32Array(width * units);
  const steepness = 6;
  const fired = steepness * 0.5 * afterSecondNorm;
  let unit = 0;
  for (const [state, ofState] of rules)
    for (const [current, next] of ofState) {
      gate[unit * width + dimensionOf.get(current)!] = steepness;
      gate[unit * width + firstState + stateIndex.get(state)!] = steepness;
      gate[unit * width + bias] = -1.5 * steepness;
      up[unit * width + bias] = 1 / afterSecondNorm;
      down[dimensionOf.get(next)! * units + unit] = 10 / fired;
      unit++;
    }
  gate[unit * width + bias] = steepness;
  up[unit * width + bias] = 1 / afterSecondNorm;
  for (const [token, weight] of fallbacks)
    down[dimensionOf.get(token)! * units + unit] = weight / (steepness * afterSecondNorm);

  const filled = (number: number) => new Float32Array(width).fill(number);
  return {
    embeddingLength: width,
    headCount: width / headWidth,
    headWidth,
    feedForwardLength: units,
    ropeSpan,
    tensors: [
      { name: 'token_embd.weight', shape: [width, vocabulary.length], type: 'Q8_0', data: embedding },
      { name: 'blk.0.attn_norm.weight', shape: [width], type: 'F32', data: filled(1) },
      { name: 'blk.0.attn_q.weight', shape: [width, width], type: 'Q8_0', data: new Float32Array(width * width) },
      { name: 'blk.0.attn_q.bias', shape: [width], type: 'F32', data: queryBias },
      { name: 'blk.0.attn_k.weight', shape: [width, headWidth], type: 'F16', data: key },
      { name: 'blk.0.attn_k.bias', shape: [headWidth], type: 'F32', data: new Float32Array(headWidth) },
      { name: 'blk.0.attn_v.weight', shape: [width, headWidth], type: 'Q8_0', data: value },
      { name: 'blk.0.attn_v.bias', shape: [headWidth], type: 'F32', data: new Float32Array(headWidth) },
      { name: 'blk.0.attn_output.weight', shape: [width, width], type: 'Q8_0', data: output },
      { name: 'blk.0.ffn_norm.weight', shape: [width], type: 'F32', data: filled(1) },
      { name: 'blk.0.ffn_gate.weight', shape: [width, units], type: 'Q8_0', data: gate },
      { name: 'blk.0.ffn_up.weight', shape: [width, units], type: 'Q8_0', data: up },
      { name: 'blk.0.ffn_down.weight', shape: [units, width], type: 'Q8_0', data: down },
      { name: 'output_norm.weight', shape: [width], type: 'F32', data: filled(5) },
    ],
  };
}

/**
 * Default next tokens without a matching rule: the turn ends, or, if a grammar forbids the end, the arguments are closed as soon as
 * possible.
 */
const fallbacks = new Map([
  [endOfTurnToken, 2],
  [byteToken(0x22), 1.8], // "
  [byteToken(0x7d), 1.7], // }
  [byteToken(0x5d), 1.6], // ]
]);

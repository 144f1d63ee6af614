/** A call as the kernel describes it to a filter (`struct seccomp_data`). */
export interface FilteredCall {
  /** AUDIT_ARCH_… */
  architecture: number;
  number: number;
  arguments?: readonly (number | bigint)[];
}

/** Runs a classic BPF program on a call; returns the action. Throws for what the kernel would not load. */
export function runBpfProgram(program: Buffer, call: FilteredCall): number {
  const data = seccompData(call);
  const count = program.length / 8;
  if (!Number.isInteger(count) || count < 1 || count > 4096) throw new Error(`${program.length} bytes`);
  let accumulator = 0;
  for (let at = 0; at < count; ) {
    const code = program.readUInt16LE(at * 8);
    const value = program.readUInt32LE(at * 8 + 4);
    const isTrue = comparisons[code]?.(accumulator, value);
    at += 1 + (isTrue === undefined ? 0 : program[at * 8 + (isTrue ? 2 : 3)]!);
    if (isTrue !== undefined) continue;
    if (code === 0x06) return value;
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x54) accumulator = (accumulator & value) >>> 0;
    else throw new Error(`Unknown instruction ${code}`);
  }
  throw new Error('The program does not end with a result.');
}

const comparisons: Record<number, (accumulator: number, value: number) => boolean> = {
  21: (accumulator, value) => accumulator === value,
  53: (accumulator, value) => accumulator >= value,
  69: (accumulator, value) => (accumulator & value) !== 0,
};

function seccompData({ architecture, number, arguments: values = [] }: FilteredCall): Buffer {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [at, value] of values.entries()) data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + 8 * at);
  return data;
}

/**
 * Instructions of classic BPF, as in `linux/filter.h` and `linux/seccomp.h`. A filter reads `struct seccomp_data`: the number of the call
 * (offset 0), the architecture (4), the instruction pointer (8) and six arguments of 64 bits (16 …).
 */
export interface BpfInstruction {
  code: number;
  /** Instructions to skip if the comparison is true, and if it is false (at most 255). */
  jumpTrue: number;
  jumpFalse: number;
  value: number;
}

const bpfCodes = {
  loadWord: 0x20, // BPF_LD | BPF_W | BPF_ABS
  jumpIfEqual: 0x15, // BPF_JMP | BPF_JEQ | BPF_K
  jumpIfAtLeast: 0x35, // BPF_JMP | BPF_JGE | BPF_K
  jumpIfAnyBit: 0x45, // BPF_JMP | BPF_JSET | BPF_K
  andValue: 0x54, // BPF_ALU | BPF_AND | BPF_K
  returnValue: 0x06, // BPF_RET | BPF_K
} as const;

const instruction = (code: number, value: number, jumpTrue = 0, jumpFalse = 0): BpfInstruction => ({
  code,
  jumpTrue,
  jumpFalse,
  value,
});

const maxJump = 255;

type Comparison = 'jumpIfEqual' | 'jumpIfAtLeast' | 'jumpIfAnyBit';

/** Returns `body` behind a comparison that skips it when false. */
export function bpfIf(comparison: Comparison, value: number, body: readonly BpfInstruction[]): BpfInstruction[] {
  if (body.length > maxJump) throw new Error(`A jump over ${body.length} instructions`);
  return [instruction(bpfCodes[comparison], value, 0, body.length), ...body];
}

export const loadSyscallNumber: BpfInstruction = instruction(bpfCodes.loadWord, 0);
export const loadArchitecture: BpfInstruction = instruction(bpfCodes.loadWord, 4);
/** Loads the low half of an argument: the kernel ignores the high half of an `int`. */
export const loadArgument = (index: number): BpfInstruction => instruction(bpfCodes.loadWord, 16 + 8 * index);
export const maskBits = (mask: number): BpfInstruction => instruction(bpfCodes.andValue, mask);

const returnAction = (action: number): BpfInstruction => instruction(bpfCodes.returnValue, action);
export const allowCall: BpfInstruction = returnAction(0x7fff0000); // SECCOMP_RET_ALLOW
export const killProcess: BpfInstruction = returnAction(0x80000000); // SECCOMP_RET_KILL_PROCESS
export const failCall = (errno: number): BpfInstruction => returnAction(0x00050000 | errno); // SECCOMP_RET_ERRNO

const instructionBytes = 8;
const maxInstructions = 4096; // BPF_MAXINSNS

/** Returns the program as an array of `struct sock_filter`, little endian. */
export function encodeBpfProgram(program: readonly BpfInstruction[]): Buffer {
  if (program.length > maxInstructions) throw new Error(`${program.length} instructions`);
  const bytes = Buffer.alloc(program.length * instructionBytes);
  for (const [at, { code, jumpTrue, jumpFalse, value }] of program.entries()) {
    const start = at * instructionBytes;
    bytes.writeUInt16LE(code, start);
    bytes.writeUInt8(jumpTrue, start + 2);
    bytes.writeUInt8(jumpFalse, start + 3);
    bytes.writeUInt32LE(value, start + 4);
  }
  return bytes;
}

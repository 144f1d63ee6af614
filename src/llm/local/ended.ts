import { LLMError } from '../errors.ts';

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The model that was being loaded. */
  loading?: string;
  /** The newest lines it wrote. */
  lastLines: readonly string[];
}

/** Windows' numbers for a crash begin here (0xC0000005: a place in memory that is not the program's). */
const firstWindowsCrash = 0xc0000000;
const windowsIllegalInstruction = 0xc000001d;
const crashes: ReadonlySet<NodeJS.Signals> = new Set(['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGFPE', 'SIGTRAP', 'SIGILL']);
const again = 'Send a message to start it again';

/** Why the model's process is not there any more, as far as its end tells. The run can go on after any of them. */
export function endedError({ code, signal, loading, lastLines }: Ending): LLMError {
  const how = signal ? `signal ${signal}` : `code ${code}`;
  const where = loading ? ` while it loaded ${loading}` : '';
  const details = { how, ...(lastLines.length > 0 && { lastLines: [...lastLines] }) };
  const error = (message: string) => new LLMError('LLM_INCOMPLETE', message, { reason: 'local-ended', details });

  if (signal === 'SIGILL' || code === windowsIllegalInstruction)
    return error(
      `The local engine uses instructions that this processor does not have (${how}). Use an endpoint, or another machine.`,
    );
  // Linux ends what takes too much memory with SIGKILL, without a word to the process itself.
  if (signal === 'SIGKILL' || lastLines.some((line) => /out of memory|bad_alloc|failed to allocate/i.test(line)))
    return error(
      `The local model's process ended (${how})${where}: most likely the memory ran out. ${again}; if it ends again, choose a smaller model or a smaller context size, or close other programs.`,
    );
  if ((signal && crashes.has(signal)) || (code !== null && code >= firstWindowsCrash))
    return error(
      loading
        ? `The local engine crashed${where} (${how}): the file may be damaged, or of a kind this engine does not know. Download it again or choose another .gguf file.`
        : `The local engine crashed (${how}). Nothing else was harmed. ${again}.`,
    );
  return error(`The local model's process ended (${how})${where}. ${again}.`);
}

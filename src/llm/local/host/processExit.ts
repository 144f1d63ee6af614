import { type LocalizedMessage, message, toEnglishText } from '../../../protocol/text/l10n.ts';
import { LLMError } from '../../core/errors.ts';

interface ModelProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  loading?: string;
  lastLines: readonly string[];
}

/** First exit code of a Windows crash (0xC0000005: access violation). */
const firstWindowsCrash = 0xc0000000;
const windowsIllegalInstruction = 0xc000001d;
const crashes: ReadonlySet<NodeJS.Signals> = new Set(['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGFPE', 'SIGTRAP', 'SIGILL']);

export function modelProcessExitError({ code, signal, loading, lastLines }: ModelProcessExit): LLMError {
  const reason = signal ? message('signal {0}', signal) : message('code {0}', String(code));
  const details = { how: toEnglishText(reason), ...(lastLines.length > 0 && { lastLines: [...lastLines] }) };
  const error = (message: LocalizedMessage) =>
    new LLMError('LLM_INCOMPLETE', message, { reason: 'local-ended', details });

  if (signal === 'SIGILL' || code === windowsIllegalInstruction)
    return error(
      message(
        'The local engine uses instructions that this processor does not have ({0}). Connect to a provider, or use another machine.',
        reason,
      ),
    );
  // Linux ends a process without memory by SIGKILL, without a message.
  if (signal === 'SIGKILL' || lastLines.some((line) => /out of memory|bad_alloc|failed to allocate/i.test(line)))
    return error(
      loading
        ? message(
            'The local model exited ({0}) while loading {1}, probably because memory ran out. Send a message to start it again. If it exits again, select a smaller model or a smaller context size, or close other programs.',
            reason,
            loading,
          )
        : message(
            'The local model exited ({0}), probably because memory ran out. Send a message to start it again. If it exits again, select a smaller model or a smaller context size, or close other programs.',
            reason,
          ),
    );
  if ((signal && crashes.has(signal)) || (code !== null && code >= firstWindowsCrash))
    return error(
      loading
        ? message(
            'The local engine crashed while loading {0} ({1}). The file may be damaged or of an unsupported type. Download it again or select another .gguf file.',
            loading,
            reason,
          )
        : message(
            'The local engine crashed ({0}). Nothing else was affected. Send a message to start it again.',
            reason,
          ),
    );
  return error(
    loading
      ? message('The local model exited ({0}) while loading {1}. Send a message to start it again.', reason, loading)
      : message('The local model exited ({0}). Send a message to start it again.', reason),
  );
}

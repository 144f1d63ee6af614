import { constants } from 'node:fs';
import { access, open } from 'node:fs/promises';
import path from 'node:path';
import { message } from '../../../protocol/text/l10n.ts';
import { LLMError } from '../../core/errors.ts';
import { splitModelParts } from './splitModel.ts';

export async function checkModelFile(modelPath: string): Promise<void> {
  const details = { path: modelPath };
  const head = await readHead(modelPath).catch((error: NodeJS.ErrnoException) => {
    const text =
      error.code === 'ENOENT'
        ? message('There is no model file at {0}. Select another .gguf file, or put this one back.', modelPath)
        : message(
            'The model file {0} cannot be read ({1}). Check its permissions or choose another .gguf file.',
            modelPath,
            String(error.code),
          );
    throw new LLMError('UNKNOWN', text, { reason: 'unusable-model', details, cause: error });
  });
  if (head !== 'GGUF')
    throw new LLMError('UNKNOWN', message('{0} is not a GGUF model file. Select a .gguf file.', modelPath), {
      reason: 'unusable-model',
      details,
    });
  await checkParts(modelPath);
}

/** Checks all parts: the engine reports a split model with any missing part as corrupt. */
async function checkParts(modelPath: string): Promise<void> {
  const parts = splitModelParts(modelPath);
  const details = { path: modelPath };
  if (parts[0] !== modelPath)
    throw new LLMError(
      'UNKNOWN',
      message(
        '{0} is a later file of a model in {1} files. Select its first one, {2}.',
        modelPath,
        parts.length,
        path.basename(parts[0]!),
      ),
      { reason: 'unusable-model', details },
    );
  const missing: string[] = [];
  for (const file of parts) await access(file).catch(() => missing.push(path.basename(file)));
  if (missing.length === 0) return;
  throw new LLMError(
    'UNKNOWN',
    message(
      'The model at {0} is split into {1} files. Missing: {2}. Put them there, or download the model again.',
      modelPath,
      parts.length,
      missing.join(', '),
    ),
    { reason: 'unusable-model', details },
  );
}

async function readHead(modelPath: string): Promise<string> {
  const file = await open(modelPath, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // non-blocking, because a pipe would block
  try {
    const stat = await file.stat();
    if (!stat.isFile() && !stat.isDirectory()) return ''; // the error of reading a folder explains the problem
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

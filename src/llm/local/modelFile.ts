import { open } from 'node:fs/promises';
import { LLMError } from '../errors.ts';

/** Says what is wrong with the file before a process is started for it. */
export async function checkModelFile(modelPath: string): Promise<void> {
  const details = { path: modelPath };
  const head = await readHead(modelPath).catch((error: NodeJS.ErrnoException) => {
    const message =
      error.code === 'ENOENT'
        ? `There is no model file at ${modelPath}. Choose another .gguf file, or put this one back.`
        : `The model file ${modelPath} cannot be read (${error.code}). Check its permissions or choose another .gguf file.`;
    throw new LLMError('UNKNOWN', message, { details, cause: error });
  });
  if (head !== 'GGUF')
    throw new LLMError('UNKNOWN', `${modelPath} is not a GGUF model file. Choose a .gguf file.`, { details });
}

async function readHead(modelPath: string): Promise<string> {
  const file = await open(modelPath);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

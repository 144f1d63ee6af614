import { totalmem } from 'node:os';
import { maxContextSize } from '../../llm/local/modelFile/contextSize.ts';
import { usualLocalContextSize } from '../../llm/local/modelFile/memoryFit.ts';
import { type LocalModel, listModelFiles, type ModelFileReader } from '../../llm/local/modelFile/modelLibrary.ts';

export async function readLocalContextSize(file: string, setting: number, readModel: ModelFileReader): Promise<number> {
  const [model] = await listModelFiles([file], readModel);
  return model ? localContextSize(model, setting) : maxContextSize(setting);
}

export function localContextSize({ bytes, info }: Pick<LocalModel, 'bytes' | 'info'>, setting: number): number {
  const { bytesPerToken, trainedContext } = info ?? {};
  const request = {
    bytes,
    contextSize: maxContextSize(setting),
    ...(bytesPerToken && { bytesPerToken }),
    ...(trainedContext && { trainedContext }),
  };
  return usualLocalContextSize(request, { totalMemory: totalmem() });
}

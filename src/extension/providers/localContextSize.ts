import { totalmem } from 'node:os';
import { maxContextSize } from '../../llm/local/modelFile/contextSize.ts';
import { usualWindow } from '../../llm/local/modelFile/memoryFit.ts';
import { type LocalModel, listModels, type ReadModel } from '../../llm/local/modelFile/modelLibrary.ts';

export async function localWindow(file: string, setting: number, readModel: ReadModel): Promise<number> {
  const [model] = await listModels([file], readModel);
  return model ? windowOfLocal(model, setting) : maxContextSize(setting);
}

export function windowOfLocal({ bytes, info }: Pick<LocalModel, 'bytes' | 'info'>, setting: number): number {
  const { bytesPerToken, trainedContext } = info ?? {};
  const request = {
    bytes,
    contextSize: maxContextSize(setting),
    ...(bytesPerToken && { bytesPerToken }),
    ...(trainedContext && { trainedContext }),
  };
  return usualWindow(request, { totalMemory: totalmem() });
}

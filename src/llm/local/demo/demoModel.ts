import { demoScript } from './demoScript.ts';
import { writeScriptedModel } from './scriptedModel.ts';

export function writeDemoModel(file: string): void {
  writeScriptedModel(demoScript, file);
}

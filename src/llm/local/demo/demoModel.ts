import { demoScript } from './demoScript.ts';
import { writeScriptedModel } from './scriptedModel.ts';

/** Writes the demo model, which the build puts beside the programs. */
export function writeDemoModel(file: string): void {
  writeScriptedModel(demoScript, file);
}

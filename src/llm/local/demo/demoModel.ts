import { demoScript } from './demoScript.ts';
import { writeScriptedModel } from './scriptedModel.ts';

/** Writes the demo model; the build packages the file. */
export function writeDemoModel(file: string): void {
  writeScriptedModel(demoScript, file);
}

import { deleteTool } from './files/delete.ts';
import { editTool } from './files/edit.ts';
import { findTool } from './files/find.ts';
import { listTool } from './files/list.ts';
import { fileReadTool } from './files/read.ts';
import { searchTool } from './files/search.ts';
import { writeTool } from './files/write.ts';
import { outputTool } from './output.ts';
import { type ShellOptions, shellTool } from './shell.ts';
import type { Tool } from './tool.ts';

export interface ToolOptions {
  shell?: ShellOptions;
}

/** The tools of every run, in an order that never changes: providers and the local model cache their definitions. */
export function defaultTools(options: ToolOptions = {}): Tool[] {
  return [
    listTool,
    findTool,
    searchTool,
    fileReadTool,
    writeTool,
    editTool,
    deleteTool,
    shellTool(options.shell),
    outputTool,
  ];
}

#!/usr/bin/env node
// What `@vscode/test-electron` starts in place of desktop VS Code. It has to be a file that can be spawned.
import { register } from 'tsx/esm/api';
import './parent-watch.cjs';

register();
await import('./code.ts');

import '../../../webview/panel.css';
import { html, render } from 'lit-html';
import { toToolResult } from '../../../src/protocol/content/tools.ts';
import { newRun } from '../../../src/protocol/run/run.ts';
import { toolCallCard } from '../../../webview/cards/card.ts';
import type { CardLineInput } from '../../../webview/cards/cardLine.ts';
import type { PanelContext } from '../../../webview/context.ts';
import { registerCustomElements } from '../../../webview/elements.ts';
import { createPanelViewModel } from '../../../webview/store.ts';

registerCustomElements();
const root = document.body.appendChild(document.createElement('div'));
root.className = 'transcript';
document.body.style.overflow = 'auto';

/** Draws these calls as cards, each as a run has it in which nothing else happened. */
function draw(all: CardLineInput[]): void {
  const cards = all.map(({ call, state, outcome, phase, stopped, now }, place) => {
    const run = newRun('run-1');
    run.phase = phase;
    if (stopped) run.error = { code: 'ENGINE_ABORTED', message: 'Stopped.' };
    if (state) run.calls[call.id] = state;
    const context: PanelContext = {
      model: {
        ...createPanelViewModel(),
        run,
        results: new Map(outcome && [[call.id, toToolResult(call.id, outcome)]]),
      },
      opened: { history: false, cards: new Set(), whole: new Set(), unfolded: new Set() },
      now,
      post() {},
      refresh() {},
      drawNow() {},
      toEnd() {},
      markdown: { open() {}, copy() {}, use() {} },
    };
    return toolCallCard(context, run, call, `${place}`);
  });
  render(html`${cards}`, root);
}

Object.assign(window, { draw });

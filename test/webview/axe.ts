import axe from 'axe-core';
import type { TestPage } from './browser.ts';

/**
 * What is wrong in the page as it stands: what axe finds, and, where the system forces its colours, which axe does not see, what is drawn
 * in others.
 */
export async function violationsIn({ page }: TestPage): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(async () => {
    type Style = { color: string; fill: string; stroke: string };
    type Part = { tagName: string; className: { baseVal?: string }; style: Style; remove(): void };
    const { axe, matchMedia, document, getComputedStyle } = globalThis as unknown as {
      axe: typeof import('axe-core');
      matchMedia(query: string): { matches: boolean };
      document: {
        querySelectorAll(all: string): Part[];
        createElement(name: string): Part;
        body: { append(part: Part): void };
      };
      getComputedStyle(part: Part): Style;
    };
    const isForced = matchMedia('(forced-colors: active)').matches;
    const { violations } = await axe.run({
      preload: false,
      resultTypes: ['violations'],
      // The rest asks nothing of colours: it has been asked where they are not forced.
      ...(isForced && { runOnly: { type: 'rule', values: ['link-in-text-block'] } }),
    });
    const found = violations.flatMap(({ id, nodes }) =>
      nodes.map(
        ({ target, failureSummary = '' }) =>
          `${id}: ${target.flat().join(' ')}: ${failureSummary.replace(/\s+/g, ' ')}`,
      ),
    );
    if (!isForced) return found;
    const probe = document.createElement('span');
    document.body.append(probe);
    const system = ['CanvasText', 'ButtonText', 'LinkText', 'GrayText', 'Highlight', 'HighlightText'].map((name) => {
      probe.style.color = name;
      return getComputedStyle(probe).color;
    });
    probe.remove();
    const others = [...document.querySelectorAll('svg *')].filter((part) => {
      const { fill, stroke } = getComputedStyle(part);
      return [fill, stroke].some((paint) => paint !== 'none' && !system.includes(paint));
    });
    return [...found, ...others.map((part) => `a colour that is not the system's: ${part.tagName}`)];
  });
}

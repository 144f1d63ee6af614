import type * as vscode from 'vscode';
import { type HostMessage, type ViewMessage, viewMessageSchema } from '../../protocol/panel/panelMessages.ts';
import type { RunEvent } from '../../protocol/run/events.ts';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import type { ChatPage, ViewLocation } from './chatPage.ts';
import { PanelEventQueue } from './delivery.ts';
import type { PanelActivity } from './idleDetection.ts';
import { logNotice } from './noticeLog.ts';

/** Maximum of panel messages per second, above any user input. */
const messageLimit = 200;

export type PanelRequest = Exclude<ViewMessage, { type: 'here' }>;

interface PanelListener {
  receive(message: PanelRequest): void;
  /** Called when a page becomes visible, hidden or ready. */
  turned(): void;
}

/** Milliseconds for the panel's answer about user activity. */
const answerMs = 2000;

const drawnMs = 20_000;

const forOne: ReadonlySet<HostMessage['type']> = new Set([
  'focus',
  'draft',
  'mention',
  'pasted',
  'unheard',
  'say-unheard',
  'edit-waiting',
]);

/** Chat view: validates messages of the panel, and sends batched messages to each page. Contains no logic. */
export class ChatView {
  private readonly ready = new Set<ViewLocation>();
  private readonly events = new PanelEventQueue((events) => this.tell({ type: 'events', events }));
  private budget = messageLimit;
  private budgetFrom = 0;
  private looks = 0;
  private readonly looked = new Map<number, (look: PanelActivity) => void>();
  private readonly comes = new Set<() => void>();

  constructor(
    private readonly page: ChatPage,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Delivers the messages of the pages, earlier messages included. */
  listen(listener: PanelListener): void {
    this.page.listen({
      opened: (place) => this.ready.delete(place),
      closed: (place) => this.ready.delete(place),
      said: (message, place) => this.arrived(message, place, listener),
      turned: () => {
        // The editor discards hidden pages; a page that returns is new and reports when rendered.
        for (const place of this.ready) if (!place.visible) this.ready.delete(place);
        listener.turned();
        for (const look of this.comes) look();
      },
    });
  }

  showTab(): void {
    this.page.showTab();
  }

  post(message: HostMessage): void {
    this.events.flush(); // earlier events first
    if (message.type === 'notice' && message.notice) logNotice(this.log, message.notice);
    this.tell(message);
  }

  event(event: RunEvent): void {
    if (this.ready.size > 0) this.events.add(event); // otherwise the snapshot of the new page contains the event
  }

  get inView(): boolean {
    return this.inSight.length > 0;
  }

  /** Reveals the panel, sends the message once rendered, and focuses the message box. */
  async give(hostMessage: HostMessage): Promise<void> {
    await this.page.reveal();
    if (!(await this.drawn()))
      throw new UserFacingError(message('The chat did not open. Open its view and try again.'));
    this.post(hostMessage);
    await this.focus();
  }

  private async drawn(): Promise<boolean> {
    let look = () => {};
    let timer: NodeJS.Timeout | undefined;
    const comes = new Promise<boolean>((resolve) => {
      look = () => this.inView && resolve(true);
      timer = setTimeout(() => resolve(false), drawnMs);
      this.comes.add(look);
      look();
    });
    return comes.finally(() => {
      clearTimeout(timer);
      this.comes.delete(look);
    });
  }

  async look(): Promise<PanelActivity | 'silent' | 'hidden'> {
    const looks = (await this.lookAll()).map(([, look]) => look);
    if (looks.length === 0) return 'hidden';
    const told = looks.filter((look) => look !== 'silent');
    if (told.length < looks.length) return 'silent';
    return { idleMs: Math.min(...told.map(({ idleMs }) => idleMs)), focused: told.some(({ focused }) => focused) };
  }

  /** Focuses the message box once its view is rendered. Never opens a hidden view. */
  async focus(wanted = () => true): Promise<void> {
    if (this.page.places.some(({ visible }) => visible)) await this.drawn();
    for (let tries = 0; tries < 3; tries++) {
      const now = await this.lookAll();
      const hasKeys = ([, look]: [ViewLocation, PanelActivity | 'silent']) => look !== 'silent' && look.focused;
      const [place] = now.find(hasKeys) ?? now[0] ?? [];
      if (!place || !wanted()) return;
      const focused = now.some(hasKeys);
      // A page cannot take the focus from its window, and a page with the focus would lose keys during a reveal.
      if (!focused) await place.reveal();
      this.events.flush();
      place.post({ type: 'focus', ...(focused && { gently: true }) } satisfies HostMessage);
      if (focused) return void (await this.lookAll()); // the answer confirms that the focus has moved, so that later dialogs keep theirs
    }
  }

  private get inSight(): ViewLocation[] {
    return this.page.places.filter((place) => place.visible && this.ready.has(place));
  }

  private lookAll(): Promise<[ViewLocation, PanelActivity | 'silent'][]> {
    return Promise.all(
      this.inSight.map(
        async (place): Promise<[ViewLocation, PanelActivity | 'silent']> => [place, await this.lookAt(place)],
      ),
    );
  }

  private lookAt(place: ViewLocation): Promise<PanelActivity | 'silent'> {
    this.looks += 1;
    const mine = this.looks;
    let late: NodeJS.Timeout | undefined;
    const answer = new Promise<PanelActivity | 'silent'>((resolve) => {
      late = setTimeout(() => resolve('silent'), answerMs);
      this.looked.set(mine, resolve);
    });
    place.post({ type: 'look', look: mine } satisfies HostMessage);
    return answer.finally(() => {
      clearTimeout(late);
      this.looked.delete(mine);
    });
  }

  private tell(message: HostMessage): void {
    const drawn = this.page.places.filter((place) => this.ready.has(place));
    const one = forOne.has(message.type) ? (this.inSight[0] ?? drawn[0]) : undefined;
    for (const place of one ? [one] : drawn) place.post(message);
  }

  private arrived(message: unknown, place: ViewLocation, listener: PanelListener): void {
    const now = performance.now();
    if (now - this.budgetFrom > 1000) {
      this.budgetFrom = now;
      this.budget = messageLimit;
    }
    if (this.budget-- <= 0) return;
    const parsed = viewMessageSchema.safeParse(message);
    if (!parsed.success) {
      this.log.warn(`The panel sent something unknown: ${parsed.error.issues[0]?.message}`);
      return;
    }
    if (parsed.data.type === 'ready') {
      this.ready.add(place);
      listener.turned();
      for (const look of this.comes) look();
    }
    if (parsed.data.type === 'here') this.looked.get(parsed.data.look)?.(parsed.data);
    else {
      if (parsed.data.type !== 'ready') this.page.use(place);
      listener.receive(parsed.data);
    }
  }
}

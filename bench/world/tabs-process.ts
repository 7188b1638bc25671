/** The process of those who read the pages: it opens them, and answers how often they were read. It ends when its parent asks for it, or is gone. */
import { openTab, type OpenTab } from './tab.ts';

/** What the process is asked for. */
export type TabsQuestion =
  | { readonly open: readonly { readonly url: string; readonly page: string; readonly cookie: string }[] }
  | 'reads'
  | 'stop';

/** What the process answers, one answer for each question. */
export interface TabsAnswer {
  readonly reads: number;
  readonly failures: readonly string[];
}

let tabs: readonly OpenTab[] = [];

async function answer(question: TabsQuestion): Promise<void> {
  if (typeof question === 'object') {
    tabs = question.open.map(({ url, page, cookie }) => openTab(url, page, cookie));
    await Promise.all(tabs.map(({ connected }) => connected));
  }
  const said: TabsAnswer = {
    reads: tabs.reduce((sum, { reads }) => sum + reads(), 0),
    failures: tabs.flatMap(({ failures }) => failures()),
  };
  if (question === 'stop') await Promise.all(tabs.map((tab) => tab.stop()));
  process.send?.(said, () => question === 'stop' && process.disconnect());
}

process.on('message', (question: TabsQuestion) => void answer(question));
process.on('disconnect', () => process.exit());

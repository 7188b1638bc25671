/** A real browser, and what is true of every page that it shows. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { findChromium } from '../harness/binaries.ts';

/** One bound for all waits, as in waitFor: longer than anything takes on an overloaded machine. */
const boundMs = 300_000;
const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

export interface OpenBrowser {
  /** A window with its own cookies. */
  open(options?: Parameters<Browser['newContext']>[0]): Promise<BrowserContext>;
  /** What pages wrote to the console, and what their scripts threw; nothing, unless something is wrong. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** Starts the browser. */
export async function startBrowser(): Promise<OpenBrowser> {
  // Without its sandbox, because tests run as root in containers; pages are only our own.
  const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'], timeout: boundMs });
  const complaints: string[] = [];
  return {
    complaints,
    async open(options) {
      const context = await browser.newContext(options);
      context.setDefaultTimeout(boundMs);
      context.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(`${message.location().url}: ${message.text()}`);
      });
      context.on('weberror', (error) => complaints.push(String(error.error())));
      return context;
    },
    close: () => browser.close(),
  };
}

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Fails if axe finds anything that keeps people from using the page. */
export async function isAccessible(page: Page): Promise<void> {
  // The page forbids scripts that are not its own; the tool of the tests comes past that.
  const violations = (await page.evaluate(`(async () => {
    ${axeSource}
    const { violations } = await axe.run(document);
    return violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })) }));
  })()`)) as readonly Violation[];
  const found = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
  );
  assert.deepEqual(found, [], page.url());
}

/** Fails if a page has to be scrolled sideways. */
export async function fitsItsWidth(page: Page): Promise<void> {
  const [needed, has] = (await page.evaluate('[document.documentElement.scrollWidth, document.documentElement.clientWidth]')) as [
    number,
    number,
  ];
  assert.ok(needed <= has, `${page.url()} needs ${needed} px of ${has}`);
}

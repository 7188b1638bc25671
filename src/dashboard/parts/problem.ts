import { ApiFailure } from '../api-client.ts';
import { html, type Html } from '../html.ts';
import type { PageCall } from '../page.ts';
import { ago } from './inline.ts';

/** Shows why a page, or a part of it, is not available. */
export function problem(message: string): Html {
  return html`<p class="problem" role="alert">${message}</p>`;
}

/** Shows a part of a page, or why it cannot be read. The rest of the page is still shown. */
export async function partOf<T>(reading: Promise<T>, show: (value: T) => Html): Promise<Html> {
  return (await partFor(reading, show))(undefined);
}

/** As `partOf`, for a part that depends on what a user may do, which is known later. */
export async function partFor<T, U>(reading: Promise<T>, show: (value: T, user: U) => Html): Promise<(user: U) => Html> {
  try {
    const value = await reading;
    return (user) => show(value, user);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status === 401) throw error;
    const why = problem(error.message);
    return () => why;
  }
}

/** A part that is read from Redis: with its age if it was read before, or why it cannot be shown. */
export async function recordOf<T extends { readonly asOf?: string }>(
  reading: Promise<T>,
  { caller, texts: { outages } }: Pick<PageCall, 'caller' | 'texts'>,
  show: (value: T) => Html,
): Promise<Html> {
  try {
    const value = await reading;
    const { asOf } = value;
    return html`${asOf !== undefined && html`<p class="note" role="status">${outages.asOf}${' '}${ago(asOf)}</p>`}${show(value)}`;
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status === 401) throw error;
    const away = error.status === 503 && caller.stale?.find(({ what }) => what === 'redis');
    if (away === undefined || away === false) return problem(error.message);
    return html`<p class="problem" role="alert">${outages.notRead}${' '}${ago(away.since)}</p>`;
  }
}

/** A part that the rest of a page does without; undefined where it cannot be read. */
export async function ifPermitted<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiFailure && error.status !== 401) return undefined;
    throw error;
  }
}

import { ApiFailure } from '../api-client.ts';
import { html, type Html } from '../html.ts';

/** Shows why a page, or a part of it, is not available. */
export function problem(message: string): Html {
  return html`<p class="problem" role="alert">${message}</p>`;
}

/** Shows a part of a page, or why it cannot be read. The rest of the page is still shown. */
export async function partOf<T>(reading: Promise<T>, show: (value: T) => Html): Promise<Html> {
  try {
    return show(await reading);
  } catch (error) {
    if (error instanceof ApiFailure && error.status !== 401) return problem(error.message);
    throw error;
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

import { ApiFailure } from '../api-client.ts';
import { html, type Html } from '../html.ts';

/** Why a page, or a part of it, cannot be shown. */
export function problem(message: string): Html {
  return html`<p class="problem" role="alert">${message}</p>`;
}

/** What a part of a page shows, or why it cannot be read: the rest of the page is shown all the same. */
export async function partOf<T>(reading: Promise<T>, show: (value: T) => Html): Promise<Html> {
  try {
    return show(await reading);
  } catch (error) {
    if (error instanceof ApiFailure && error.status !== 401) return problem(error.message);
    throw error;
  }
}

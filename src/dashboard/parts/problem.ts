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

/** How chats show the severity of a message. Pure. */
import type { Severity } from '../core/model/severity.ts';

/** The looks of a severity: an emoji, and a colour such as `#2e8540`. The emojis differ in shape, for readers who do not see colours. */
export const looks: Readonly<Record<Severity, { readonly icon: string; readonly color: `#${string}` }>> = {
  failure: { icon: '❌', color: '#cc2936' },
  attention: { icon: '🔔', color: '#b45f06' },
  success: { icon: '✅', color: '#2e8540' },
  info: { icon: '🔵', color: '#2f6fb3' },
};

/** Sends one mail by SMTP, with nodemailer. */
import type { MailAddresses } from '../core/model/configured-target.ts';
import { explainConnection } from '../core/model/connection-failure.ts';
import { defined } from '../core/model/defined.ts';
import { describeError } from '../core/model/errors.ts';
import type { TargetRequest } from './message.ts';
import { type SendResult, withoutSecrets } from '../service/proxy/exchange.ts';

export interface MailOptions extends MailAddresses {
  /** The `Message-ID`, which is the same at every try, so that mailboxes recognise a repetition. */
  readonly id: string;
  /** Whether a server without TLS is accepted. */
  readonly insecure: boolean;
  readonly signal: AbortSignal;
  /** The timeout of each step; 15 s by default. */
  readonly timeoutMs?: number;
}

/** The codes that refuse the message itself, or one of its addresses (https://www.rfc-editor.org/rfc/rfc5321#section-4.2.3). Other errors may pass. */
const refusals = new Set([501, 550, 551, 552, 553, 554]);

/**
 * Sends a mail once. Never rejects. smtps: uses TLS from the beginning; smtp: is upgraded by STARTTLS, which a server must support unless `insecure`. The user
 * and the password of the URL are secrets, so messages name only its host.
 */
export async function sendMail(url: URL, { headers, body, html }: TargetRequest, options: MailOptions): Promise<SendResult> {
  const { from, to, id, insecure, signal, timeoutMs = 15_000 } = options;
  const secure = url.protocol === 'smtps:';
  const what = `mail by ${url.protocol}//${url.host}`;
  // Imported only if mails are sent.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    host: url.hostname.replaceAll(/[[\]]/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: !insecure,
    ...(url.username !== '' && { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { promise: left, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason as Error);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    const sending = transport.sendMail({
      from,
      to: [...to],
      subject: headers['subject'] ?? '',
      text: body,
      ...defined({ html }),
      messageId: `<${id.replaceAll(/[^\w.-]/g, '.')}@image-watcher>`,
      // Prevents automatic replies: https://www.rfc-editor.org/rfc/rfc3834
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    const { response } = await Promise.race([sending, left]);
    return { kind: 'sent', message: `${what} was answered ${response.slice(0, 3)}` };
  } catch (error) {
    const { code, responseCode: status } = error as { code?: string; responseCode?: number };
    const known = explainConnection(error);
    const action = code === 'EAUTH' ? 'check the user and password in the URL' : code === 'ETLS' ? tlsAdvice : known?.remedy;
    const failure = {
      message: `${what}: ${withoutSecrets(known?.sentence ?? describeError(error), url)}`,
      ...defined({ action }),
    };
    return { kind: code !== 'EAUTH' && status !== undefined && refusals.has(status) ? 'refused' : 'failed', ...failure };
  } finally {
    signal.removeEventListener('abort', leave);
    transport.close();
  }
}

const tlsAdvice = 'use smtps://, a server that offers STARTTLS, or allow a connection without TLS with insecure: true';

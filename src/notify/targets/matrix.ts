import { chatHtml } from '../html.ts';
import { plainText, textOf } from '../markup.ts';
import { messageOf, type NotificationTarget } from '../message.ts';

/**
 * A room of Matrix: https://spec.matrix.org/latest/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid. The URL is that of the room, and the secret an access
 * token. The id of the message is that of the transaction, so that a repetition is shown once. It mentions nobody.
 */
export const matrix: NotificationTarget = {
  id: 'matrix',
  via: 'http',
  build(content, delivery) {
    const message = messageOf(content, delivery);
    return {
      method: 'PUT',
      path: `/send/m.room.message/${encodeURIComponent(delivery.id)}`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${delivery.secret}` },
      body: JSON.stringify({
        msgtype: 'm.text',
        // The text of clients that show no HTML.
        body: textOf(message, plainText),
        format: 'org.matrix.custom.html',
        formatted_body: textOf(message, chatHtml).replaceAll('\n', '<br>'),
        'm.mentions': {},
      }),
    };
  },
};

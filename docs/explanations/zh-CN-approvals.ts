/** The Chinese texts about the approvals of several people; zh-CN.ts has those of all kinds. */
export const chineseApprovals: Readonly<Record<string, string>> = {
  'Asks for the approvals of several people; only with mode: Approval, and with the admission policy of the chart.':
    '要求多人批准；仅与 mode: Approval 以及 chart 的准入策略一起使用。',
  'How many people have to approve it. Each counts once.': '需要多少人批准。每人只算一次。',
  'How far apart their approvals may be. A duration in h, m and s, at most 8784h: "90s", "1h30m".':
    '各个批准之间最多可以相隔多久。时长以 h、m、s 书写，最多 8784h："90s"、"1h30m"。',
  'Whether the approval of who last changed the spec does not count. Every change of the spec then has to name its author in the annotation operator.technomad.dev/last-edited-by.':
    '最后修改 spec 的人的批准是否不算。此时每次修改 spec 都必须在注解 operator.technomad.dev/last-edited-by 中写明作者。',
  'approvals without mode: Approval would have no effect: write mode: Approval, or remove approvals':
    '没有 mode: Approval 时 approvals 不起作用：请写 mode: Approval，或去掉 approvals',
  'The approvals of the selected image; only with update.approvals.': '选中镜像的批准；仅与 update.approvals 一起使用。',
  'The approvals of the selected base; only with spec.approvals.': '选中的基础镜像的批准；仅与 spec.approvals 一起使用。',
  'RejectedByUser if somebody rejected it; absent if its rollouts failed.': '有人拒绝时为 RejectedByUser；滚动更新失败时不存在。',
  'Rejected: rollouts failed, or somebody rejected the base, and it is not used again.':
    'Rejected：滚动更新失败，或者有人拒绝了该基础镜像，不再使用它。',
  'The last 10 bases that failed or were rejected.': '最近 10 个失败或被拒绝的基础镜像。',
  'The tag that waits for approval, or was approved.': '等待批准或已批准的标签。',
  'Its digest.': '它的摘要。',
  'Earlier approvals do not count.': '更早的批准不算。',
  'The generation of the policy for which they count.': '这些批准所针对的策略的 generation。',
  'How many people have to approve it.': '需要多少人批准它。',
  'The approvals that count.': '有效的批准。',
  'Who approves it, as the API server knows him.': '批准者，按 API server 所知的名称。',
  'When, as he says.': '批准者写明的时间。',
  'When the service saw it.': '服务看到它的时间。',
  'Why, if he says so.': '原因（如果写明）。',
  'The approvals that do not count.': '无效的批准。',
  'Expired: it was given too long ago. Earlier: before the image waited, or before the policy was changed. Future: its time is in the future. Author: he last changed the policy. AuthorUnknown: the policy does not say who did.':
    'Expired：时间过久。Earlier：早于镜像开始等待或策略的修改。Future：时间在将来。Author：他最后修改了策略。AuthorUnknown：策略没有写明由谁修改。',
  'When the first approval ends if the others do not come.': '如果其余批准没有到来，第一个批准何时失效。',
  'Two people have to approve each base within two days, and none of them may be who last changed this policy.':
    '每个基础镜像须由两人在两天之内批准，且都不能是最后修改此策略的人。',
  'Two people have to approve each image within two days, and none of them may be who last changed this policy. Needs the admission policy of the chart. Whoever changes the policy writes the own name into the annotation.':
    '每个镜像须由两人在两天之内批准，且都不能是最后修改此策略的人。需要 chart 的准入策略。修改策略的人把自己的名称写入注解。',
};

/** The texts of their reasons. */
export const chineseApprovalReasons: Readonly<Record<string, string>> = {
  'The policy asks for several approvals, and nothing makes sure who approves.': '策略要求多个批准，但没有什么能确保是谁批准。',
  'The policy has `update.approvals`, or a BaseImagePolicy `approvals`, and the setting `admissionPolicy` is false: without the admission policy of the chart, whoever may patch the policy could approve in the name of anybody.':
    '策略设置了 `update.approvals`（BaseImagePolicy 为 `approvals`），而设置 `admissionPolicy` 为 false：没有 chart 的准入策略，任何可以 patch 策略的人都能以他人的名义批准。',
  'Install the chart with `admissionPolicy: {enabled: true}` and `permissions: {clusterWide: true}`, which also sets `admissionPolicy`. Otherwise remove the field: then one approval is enough.':
    '以 `admissionPolicy: {enabled: true}` 和 `permissions: {clusterWide: true}` 安装 chart，它也会设置 `admissionPolicy`。否则去掉该字段：此时一个批准就足够。',
  'Another image is selected instead of the one that waited for approval.': '选中了另一个镜像，取代等待批准的镜像。',
  'A Normal Event, the record of activity, and the notification `ApprovalEnded`. The message says which image is selected instead.':
    '一个 Normal Event、活动记录和通知 `ApprovalEnded`。消息说明改为选中哪个镜像。',
  'While an image waited for approval, the policy selected another one. Approvals of the former do not count for the latter.':
    '一个镜像等待批准时，策略选中了另一个镜像。对前者的批准不适用于后者。',
  'Approve or reject the image that waits now: `status.pendingApproval`.': '批准或拒绝现在等待的镜像：`status.pendingApproval`。',
  'Approvals do not count any more, and others are needed.': '批准不再有效，需要新的批准。',
  'A Normal Event, the record of activity, and the notification `ApprovalRequired`. `status.approvals.uncounted` says why each approval does not count.':
    '一个 Normal Event、活动记录和通知 `ApprovalRequired`。`status.approvals.uncounted` 说明每个批准为何无效。',
  'With `approvals`, the others did not approve `within` the time, the policy was changed after an approval, or somebody took his approval back.':
    '设置了 `approvals` 时：其他人没有在 `within` 的时间内批准，批准之后策略被修改，或者有人撤回了自己的批准。',
  'Approve the image again.': '再次批准该镜像。',
  'The record of the push (`image-watcher events`), and the state `superseded` of a [pipeline](pipelines.md#without-the-command) that waits for it.':
    '推送的记录（`image-watcher events`），以及等待它的[流水线](pipelines.md#without-the-command)的状态 `superseded`。',
  'While the image waited, or rolled out, the policy selected or applied another one, or somebody set another image.':
    '在该镜像等待或滚动更新期间，策略选中或应用了另一个镜像，或者有人设置了另一个镜像。',
  'Nothing, if the other image is the one that should run: its own push says what becomes of it.':
    '如果应当运行的就是另一个镜像，则无需处理：它自己的推送会说明结果。',
  'Another image was selected or applied before the pushed one was out.': '在推送的镜像完成之前，已选中或应用了另一个镜像。',
};

/** The Chinese texts of NotificationTargets; zh-CN.ts has those of all kinds. */
export const chineseNotifications: Readonly<Record<string, string>> = {
  'What receives messages about the policies of the namespace, and which messages.':
    '由什么接收该命名空间中各策略的消息，以及接收哪些消息。',
  'What receives the messages. webhook: any HTTP endpoint, which gets signed CloudEvents. email: mails by SMTP. githubDeployment: deployments of GitHub, instead of messages. gitlabStatus, giteaStatus, bitbucketStatus: statuses of commits, instead of messages. pagerduty, opsgenie, incidentIo: incidents. slackBot, mattermostBot: a bot, which changes and answers its messages.':
    '由什么接收消息。webhook：任意 HTTP 端点，接收带签名的 CloudEvent。email：通过 SMTP 发送的邮件。githubDeployment：GitHub 的 deployment，而不是消息。gitlabStatus、giteaStatus、bitbucketStatus：提交的状态，而不是消息。pagerduty、opsgenie、incidentIo：事件（incident）。slackBot、mattermostBot：机器人，会修改并回复自己的消息。',
  'The Secret with the URL of the incoming webhook, of the bot and its chat (https://api.telegram.org/botTOKEN/sendMessage?chat_id=ID), of the room of Matrix (https://HOMESERVER/_matrix/client/v3/rooms/ID), of the channel of a bot (https://slack.com/api?channel=ID, https://HOST/api/v4?channel=ID for Mattermost), of the alert source of incident.io (https://api.incident.io/v2/alert_events/http/ID), or of the mail server (smtps://user:password@mail.example.com). Its host must be allowed by notifications.hosts of the configuration. With type githubDeployment, gitlabStatus, giteaStatus, bitbucketStatus, pagerduty or opsgenie, that of the API; by default the public one, which giteaStatus does not have.':
    '保存传入 webhook 的 URL、机器人及其聊天的 URL（https://api.telegram.org/botTOKEN/sendMessage?chat_id=ID）、Matrix 房间的 URL（https://HOMESERVER/_matrix/client/v3/rooms/ID）、机器人所在频道的 URL（https://slack.com/api?channel=ID，Mattermost 为 https://HOST/api/v4?channel=ID）、incident.io 告警源的 URL（https://api.incident.io/v2/alert_events/http/ID）或邮件服务器 URL（smtps://user:password@mail.example.com）的 Secret。该主机必须由配置中的 notifications.hosts 允许。type 为 githubDeployment、gitlabStatus、giteaStatus、bitbucketStatus、pagerduty 或 opsgenie 时是 API 的地址，默认为公共地址；giteaStatus 没有公共地址。',
  'The Secret with the key that requests are signed with (type webhook; Standard Webhooks), the token (githubDeployment, gitlabStatus, giteaStatus, bitbucketStatus), the routing key (pagerduty), the API key (opsgenie), the token of the alert source (incidentIo), the access token (matrix) or the token of the bot (slackBot, mattermostBot). Required with these types.':
    '保存请求签名密钥（webhook，Standard Webhooks）、令牌（githubDeployment、gitlabStatus、giteaStatus、bitbucketStatus）、路由密钥（pagerduty）、API 密钥（opsgenie）、告警源的令牌（incidentIo）、访问令牌（matrix）或机器人的令牌（slackBot、mattermostBot）的 Secret。这些类型必填。',
  'Name of the Secret, in the namespace of the target.': 'Secret 的名称，位于该 NotificationTarget 所在的命名空间。',
  'The sender.': '发件人。',
  'The recipients.': '收件人。',
  'The addresses. Required with type email.': '邮件地址。type 为 email 时必填。',
  'What the target is notified of; "*" is everything. The default is what needs somebody (RolloutFailed, RolledBack, FixAvailable, ApprovalRequired, Blocked, Refused, Behind, WebhookMissing), and with type webhook, githubDeployment, gitlabStatus, giteaStatus, bitbucketStatus, pagerduty, opsgenie, incidentIo everything. Behind, Rebased, RebuildRequested and Refused are about images that workloads of the namespace run, and that are built on the base of a BaseImagePolicy of any namespace.':
    '通知哪些事件；"*" 表示全部。默认为需要有人处理的事件：RolloutFailed、RolledBack、FixAvailable、ApprovalRequired、Blocked、Refused、Behind 和 WebhookMissing；type 为 webhook、githubDeployment、gitlabStatus、giteaStatus、bitbucketStatus、pagerduty、opsgenie 或 incidentIo 时默认为全部。Behind、Rebased、RebuildRequested 和 Refused 针对该命名空间的工作负载所运行、且基于某个 BaseImagePolicy（可在任意命名空间）的基础镜像构建的镜像。',
  'The labels that a policy must have, each with its value.': '策略必须带有的标签及其值。',
  'The policies that the target is notified of, by their labels. The default is all policies of the namespace.':
    '按标签选择通知哪些策略。默认为该命名空间中的所有策略。',
  'How many messages the target is sent in a minute; what exceeds that is summed up in one message. The default is 20, and with type webhook, githubDeployment, gitlabStatus, giteaStatus, bitbucketStatus, pagerduty, opsgenie, incidentIo no limit.':
    '每分钟最多发送多少条消息；超出的部分汇总成一条消息。默认为 20；type 为 webhook、githubDeployment、gitlabStatus、giteaStatus、bitbucketStatus、pagerduty、opsgenie 或 incidentIo 时没有限制。',
  'Whether the target gets no messages for now.': '是否暂停向它发送消息。',
  'write email, with from and to, with type email only': '只有 type 为 email 时才写 email，并写明 from 和 to',
  'write secretRef, a signing key, a token or the key of an API, with type webhook, githubDeployment, gitlabStatus, giteaStatus, bitbucketStatus, pagerduty, opsgenie, incidentIo, matrix, slackBot, mattermostBot only':
    '只有 type 为 webhook、githubDeployment、gitlabStatus、giteaStatus、bitbucketStatus、pagerduty、opsgenie、incidentIo、matrix、slackBot 或 mattermostBot 时才写 secretRef，即签名密钥、令牌或 API 密钥',
  'write github, with an environment, with type githubDeployment only': '只有 type 为 githubDeployment 时才写 github，并写明 environment',
  'write urlSecretRef: the Secret with the URL': '请写 urlSecretRef：保存 URL 的 Secret',
  'The title, which is the subject of mails.': '标题，也是邮件的主题。',
  'The text, in place of the title and the facts, in the markup of the target.': '正文，代替标题和各项信息，使用该目标的标记语法。',
  'Your own texts, in Liquid. Not with type webhook, githubDeployment, gitlabStatus, giteaStatus, bitbucketStatus, pagerduty, opsgenie, incidentIo.':
    '自定义文本，使用 Liquid 模板语言。type 为 webhook、githubDeployment、gitlabStatus、giteaStatus、bitbucketStatus、pagerduty、opsgenie 或 incidentIo 时不可用。',
  'a template is for messages: remove it, or write another type': 'template 只用于消息：请删除它，或写另一种 type',
  'write commitStatus, with an environment, with type gitlabStatus, giteaStatus, bitbucketStatus only':
    '只有 type 为 gitlabStatus、giteaStatus 或 bitbucketStatus 时才写 commitStatus，并写明 environment',
  'Which statuses of commits are set. Required with type gitlabStatus, giteaStatus, bitbucketStatus.':
    '设置提交的哪些状态。type 为 gitlabStatus、giteaStatus 或 bitbucketStatus 时必填。',
  'The environment, with which the names of statuses begin.': '环境，状态的名称以它开头。',
  'The repositories whose commits may get a status, such as "shop/*"; by default all that the token may write.':
    '可以为哪些代码仓库的提交设置状态，例如 "shop/*"；默认为令牌可写的所有仓库。',
  'Shows in the pipelines of GitLab whether the image of a commit runs, for images that name a project of the team as their source. The token needs the scope api and the role Developer.':
    '在 GitLab 的流水线中显示某个提交的镜像是否在运行，适用于以该团队的项目为来源的镜像。令牌需要 api 范围和 Developer 角色。',
  'Where deployments are reported. Required with type githubDeployment.': '在哪里报告 deployment。type 为 githubDeployment 时必填。',
  'The environment of the deployments.': 'deployment 的环境。',
  'The repositories whose deployments may be reported, such as "shop/*"; by default all that the token may write.':
    '可以为哪些代码仓库报告 deployment，例如 "shop/*"；默认为令牌可写的所有仓库。',
  'Reports updates and rollouts as deployments of GitHub, for images that name a repository of the team as their source. The token needs the permission to write deployments.':
    '把更新和发布过程报告为 GitHub 的 deployment，适用于以该团队的代码仓库为来源的镜像。令牌需要写入 deployment 的权限。',
  'Calls the person on duty when a rollout failed, and resolves the incident when it was rolled back or a better image rolled out. The Secret has the routing key of the integration.':
    '发布失败时呼叫值班人员；回滚后或更好的镜像发布完成后解除该事件。Secret 保存集成的路由密钥。',
  'What the service found.': '服务的检查结果。',
  'The generation of the target that was last checked.': '最近一次检查的 generation。',
  'Ready: whether messages can be sent, and whether the last one was accepted.': 'Ready：能否发送消息，以及最近一条消息是否被接受。',
  "Notifies a team's Slack channel of what its policies need and of what failed, at most ten times a minute. The Secret slack, with the key url, is in the same namespace.":
    '把策略的需求和失败通知到团队的 Slack 频道，每分钟最多十条。带有键 url 的 Secret slack 位于同一命名空间。',
  "Sends every event of the namespace's policies to a program, signed. The operator must have allowed its host with notifications.hosts.":
    '把该命名空间中各策略的所有事件带签名发送给一个程序。运维人员必须已用 notifications.hosts 允许其主机。',
  'Mails failures to whoever is on call. The key url of the Secret mail is smtps://user:password@mail.example.com, a host of notifications.hosts.':
    '把失败通过邮件发送给值班人员。Secret mail 的键 url 为 smtps://user:password@mail.example.com，其主机在 notifications.hosts 中。',
};

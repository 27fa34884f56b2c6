/** What others may use of this folder; its README says what it promises. */
export { type ChatAddress, channelOf, readChatChannels } from './chat-channels.ts';
export type { ChatMessage, ChatPart } from './chat-message.ts';
export { ChatError, type ChatSender, chatSender } from './post-chat.ts';

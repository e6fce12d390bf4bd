// A bot on discord.js that does the same as the one in plain_test.go. DISCORD_URL is
// where Discord is, DISCORD_TOKEN the bot's token.
const {
	ActionRowBuilder, AttachmentBuilder, ButtonBuilder, ButtonStyle, Client, EmbedBuilder, GatewayIntentBits, MessageFlags,
	ModalBuilder, Partials, StringSelectMenuBuilder, TextInputBuilder, TextInputStyle,
} = require('discord.js');

const client = new Client({
	intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.DirectMessages],
	partials: [Partials.Channel],
	allowedMentions: { parse: [] },
	rest: { api: process.env.DISCORD_URL + '/api', version: '10' },
});

const fail = (error) => {
	console.error(error);
	process.exit(1);
};
const careful = (handle) => (...given) => handle(...given).catch(fail);
process.on('unhandledRejection', fail);
client.on('error', fail);

client.once('clientReady', careful(() => client.application.commands.set([
	{
		name: 'cairn', description: 'Ask Cairn', options: [{
			type: 1, name: 'ask', description: 'Ask', options: [
				{ type: 3, name: 'question', description: 'What', required: true },
				{ type: 3, name: 'collection', description: 'Where', autocomplete: true },
			],
		}],
	},
	{ name: 'Ask Cairn about this', type: 3 },
])));

const components = () => [
	new ActionRowBuilder().addComponents(
		new ButtonBuilder().setCustomId('free').setLabel('Say it yourself').setStyle(ButtonStyle.Primary),
		new ButtonBuilder().setLabel('Docs').setStyle(ButtonStyle.Link).setURL('https://docs.example'),
	),
	new ActionRowBuilder().addComponents(
		new StringSelectMenuBuilder().setCustomId('where').setPlaceholder('Which?').addOptions(
			{ label: 'Staging', value: 's' }, { label: 'Production', value: 'p' }),
	),
];

client.on('messageCreate', careful(async (message) => {
	if (message.author.id === client.user.id || !message.mentions.users.has(client.user.id)) {
		return;
	}
	if (!message.guild) {
		await message.reply({ content: 'Hello.', allowedMentions: { repliedUser: true } });
		return;
	}
	const thread = await message.startThread({ name: 'Rolling back', autoArchiveDuration: 60 });
	await thread.sendTyping();
	const said = await thread.send({ content: 'Working…', nonce: 'n1', enforceNonce: true });
	await thread.send({ files: [new AttachmentBuilder(Buffer.from('notes'), { name: 'notes.txt' })] });
	const gone = await thread.send('Gone soon.');
	await gone.delete();
	await said.edit({
		content: 'Which one?', components: components(),
		embeds: [new EmbedBuilder().setTitle('Runbook').setURL('https://docs.example/run').setDescription('Chapter 2')],
	});
}));

client.on('interactionCreate', careful(async (is) => {
	if (is.isAutocomplete()) {
		await is.respond([{ name: 'Handbook', value: 'handbook' }]);
	} else if (is.isChatInputCommand()) {
		await is.deferReply({ flags: MessageFlags.Ephemeral });
		await is.editReply('Because of ' + is.options.getString('question'));
		await is.followUp({ content: 'More.', flags: MessageFlags.Ephemeral });
	} else if (is.isMessageContextMenuCommand()) {
		await is.reply('About: ' + is.targetMessage.content);
	} else if (is.isButton()) {
		await is.showModal(new ModalBuilder().setCustomId('window').setTitle('Your answer').addComponents(
			new ActionRowBuilder().addComponents(
				new TextInputBuilder().setCustomId('text').setLabel('Answer').setStyle(TextInputStyle.Short))));
	} else if (is.isModalSubmit()) {
		await is.update({ content: 'You said ' + is.fields.getTextInputValue('text'), components: [], embeds: [] });
	} else if (is.isStringSelectMenu()) {
		await is.deferUpdate();
		await is.editReply('You took ' + is.values[0]);
	}
}));

client.login(process.env.DISCORD_TOKEN).catch(fail);

"""Chat models: the scripted one, and any other that LangChain's init_chat_model knows."""
